//! Strategies side by side: programs are run under each, with equal budgets of CPU time, and what came
//! of it is told in tables and plots.
//!
//! A program that compares is a `main` function over a list of programs. The bench of bugs is one such
//! list, and your own programs can be another:
//!
//! ```no_run
//! use std::process::ExitCode;
//! use unpick_compare::Program;
//!
//! fn lock_free_queue() {
//!     // What a test of the queue would do.
//! }
//!
//! fn main() -> ExitCode {
//!     unpick_compare::main(&[Program::new("queue", lock_free_queue)])
//! }
//! ```
//!
//! Each cell, which is one program under one strategy with one seed, runs in a process of its own, so
//! that one that hangs or dies is an entry in a table and nothing else.
//!
//! | module | does |
//! |---|---|
//! | [`program`] | what is run |
//! | [`measure`](mod@measure) | runs one cell, and keeps what is needed of it |
//! | [`children`] | runs a cell in a process of its own |
//! | [`comparison`] | all cells of a comparison |
//! | [`statistics`] | medians, distributions, points of curves |
//! | [`table`] | tables as text, Markdown, CSV and JSON |
//! | [`report`] | the tables of a comparison |
//! | [`plots`] | its plots |
//! | [`svg`] | plots as SVG |
//! | [`command`] | the command line |

#![forbid(unsafe_code)]

pub mod children;
pub mod command;
pub mod comparison;
pub mod measure;
pub mod plots;
pub mod program;
pub mod report;
pub mod statistics;
pub mod svg;
pub mod table;

pub use command::main;
pub use program::Program;
