//! Tests as users of Shuttle write them, on unpick.

#![allow(deprecated, reason = "Shuttle has tags still")]

#[macro_use]
#[path = "../../../loom/tests/it/covered.rs"]
mod covered;

mod before;
mod checks;
mod schedulers;
mod surface;
mod tasks;
