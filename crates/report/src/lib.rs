//! unpick-report.
