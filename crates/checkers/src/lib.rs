//! Checkers: they look at executions and find violations.

#![forbid(unsafe_code)]

pub mod ghost;
pub mod race;
pub mod spin;
pub mod stuck;
