//! unpick-testkit.
