//! [`unpick_shuttle::engine`] under the name of Shuttle's engine.

pub use unpick_shuttle::engine::*;
