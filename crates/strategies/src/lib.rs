//! unpick-strategies.
