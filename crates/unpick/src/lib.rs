//! unpick.
