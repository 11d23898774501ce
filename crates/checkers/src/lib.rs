//! unpick-checkers.
