//! [`unpick_shuttle`] under the name of Shuttle 0.8.

pub use unpick_shuttle::*;
