//! Strategies: ways to search the executions of a program.
//!
//! None of them names a memory model, and no memory model names one of them.

#![forbid(unsafe_code)]

mod branches;
pub mod estimate;
pub mod in_order;
pub mod optimal;
pub mod preemptions;
pub mod replay;
pub mod sample;
pub mod trace;
