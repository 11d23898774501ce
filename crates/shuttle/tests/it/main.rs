//! Tests as users of Shuttle write them, on unpick.

#![allow(deprecated, reason = "Shuttle has tags still")]

mod checks;
mod schedulers;
mod surface;
mod tasks;
