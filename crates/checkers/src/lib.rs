//! Checkers: they look at executions and find violations.

#![forbid(unsafe_code)]

pub mod race;
pub mod stuck;
