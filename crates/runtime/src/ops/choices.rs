//! Choices: what is decided by nobody in the program.

use unpick_core::op::{Op, Site, Value};

use super::other;

/// A number below `bound`.
pub fn choose(bound: Value, site: Site) -> Value {
    other(&Op::choice(bound, site))
}

/// Whether something happens without a reason: see [`Op::whim`].
pub fn whim(site: Site) -> bool {
    other(&Op::whim(2, site)) == 1
}

/// Says that the time of a wait is over, since nothing else can run.
pub(crate) fn time_is_over(site: Site) {
    other(&Op::time_is_over(site));
}

/// A number below `bound` that is right or wrong: see [`Op::guess`].
pub fn guess(bound: Value, site: Site) -> Value {
    other(&Op::guess(bound, site))
}
