//! Choices: what is decided by nobody in the program.

use unpick_core::op::{Op, Site, Value};

use super::other;

/// A number below `bound`.
pub fn choose(bound: Value, site: Site) -> Value {
    other(&Op::choice(bound, site))
}

/// Says that the time of a wait is over, since nothing else can run.
pub(crate) fn time_is_over(site: Site) {
    other(&Op::time_is_over(site));
}

/// A number below `bound` that is right or wrong: see [`Op::guess`].
pub fn guess(bound: Value, site: Site) -> Value {
    other(&Op::guess(bound, site))
}
