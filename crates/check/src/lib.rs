//! unpick-check.
