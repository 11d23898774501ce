//! Loops that wait: programs that show whether they are recognised rightly.
//!
//! - [`false_holds`]: a corpus of programs with the verdict that is right for each.
//! - [`fuzz`]: random programs, each compared with itself without loops.

mod batch;
mod builds;
mod c;
mod compare;
pub(crate) mod false_holds;
pub(crate) mod fuzz;
mod generate;
mod program;
mod rust;
mod shrink;
mod source;
mod verdict;
mod worker;
