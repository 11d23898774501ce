//! [`unpick_shuttle`] under the name of Shuttle.

pub use unpick_shuttle::*;
