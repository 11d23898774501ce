//! Hints, as in [`std::hint`].

pub use unpick::hint::*;
