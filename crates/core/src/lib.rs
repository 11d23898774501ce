//! The engine of unpick: execution graphs, and the passive execution that grows and replays them.
//!
//! Pure data and logic: no I/O, no clock, no thread, no global, no unsafe. Published for authors
//! of strategies and memory models, at `0.x` and without a promise of stability; users want the
//! `unpick` crate.

#![forbid(unsafe_code)]

pub mod clock;
pub mod coverage;
pub mod error;
pub mod event;
pub mod execution;
pub mod facts;
pub mod graph;
pub mod memory;
pub mod mutant;
pub mod op;
pub mod outcome;
pub mod plan;
pub mod purpose;
pub mod round;
pub mod schedule;
pub mod stats;
pub mod strategy;
pub mod table;
pub mod thread_set;
pub mod timeouts;
pub mod trace;
pub mod violation;
