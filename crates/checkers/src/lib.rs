//! Checkers: they look at executions and find violations.

#![forbid(unsafe_code)]

pub mod bytes;
pub mod race;
pub mod stuck;
