//! Choices: what is decided by nobody in the program.

use unpick_core::op::{Op, Site, Value};

use super::other;

/// A number below `bound`.
pub fn choose(bound: Value, site: Site) -> Value {
    other(&Op::choice(bound, site))
}

/// A number below `bound` that is right or wrong: see [`Op::guess`].
pub fn guess(bound: Value, site: Site) -> Value {
    other(&Op::guess(bound, site))
}
