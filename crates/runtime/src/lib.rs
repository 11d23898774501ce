//! unpick-runtime.
