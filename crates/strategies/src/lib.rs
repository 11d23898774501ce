//! Strategies: ways to search the executions of a program.
//!
//! None of them names a memory model, and no memory model names one of them. [`optimal`], [`in_order`] and [`sample`] are for
//! users; what is there to compare with stands apart, in [`research`].

#![forbid(unsafe_code)]

mod branches;
pub mod estimate;
pub mod in_order;
pub mod optimal;
pub mod preemptions;
pub mod replay;
pub mod research;
pub mod sample;
