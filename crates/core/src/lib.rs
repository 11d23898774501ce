//! unpick-core.
