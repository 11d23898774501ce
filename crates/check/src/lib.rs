//! From settings to verdicts: the one place that knows the names of all models and strategies.
//!
//! Front-ends build a [`Config`], make executions from it, run their program against them, and
//! turn what comes out into a [`Verdict`]. Published for front-ends, at `0.x` and without a promise
//! of stability; users want the `unpick` crate.

#![forbid(unsafe_code)]

pub mod auto;
pub mod blame;
pub mod conclusion;
pub mod config;
pub mod coverage;
pub mod effort;
pub mod meter;
pub mod registry;
pub mod steps;
pub mod strategies;
pub mod vacuous;
pub mod verdict;

pub use conclusion::Conclusion;
pub use config::{Config, Detached, Isolation, OnInconclusive, Progress};
pub use coverage::Coverage;
pub use effort::Effort;
pub use unpick_core::error::Error;
pub use unpick_core::strategy::Traces;
pub use unpick_core::timeouts::Timeouts;
pub use unpick_settings::SETTINGS;
pub use vacuous::Vacuous;
pub use verdict::{Reason, Statistics, Summary, Verdict, Violated};
