//! Exploring again, knowing more, when a violation cannot be told.
//!
//! Threads may share what the engine does not see, such as an atomic of `std`. An execution that was found need
//! not fail again, then, since its steps have another order when it is told; and when some of its steps are repeated,
//! to be followed by others, threads may do something else. If they share it through values that
//! are made once, the uses of these can be events, and the order is part of the execution. And the strategy `in-order` can
//! repeat steps in the order that they had, as it only takes back the latest.

use unpick_check::{Config, Error, Verdict, registry, strategies};
use unpick_core::facts::Facts;
use unpick_runtime::Program;
use unpick_runtime::worker::Explored;

use crate::api;

/// What one exploration tells the next.
#[derive(Debug, Default)]
pub(crate) struct Lesson {
    /// Facts that are known when it begins.
    pub(crate) known: Facts,
    /// Facts that the next should know if this one has come to nothing.
    better: Facts,
    /// Whether they are more than what was known.
    is_new: bool,
}

impl Lesson {
    /// Looks at an exploration that is over.
    pub(crate) fn learn(&mut self, explored: &Explored) {
        self.is_new = explored.facts_with_order != explored.facts;
        self.better = explored.facts_with_order;
    }
}

/// Explores a program.
pub(crate) fn explore(config: &Config, program: &Program) -> Result<Verdict, Error> {
    let (mut lesson, mut config) = (Lesson::default(), config.clone());
    loop {
        let verdict = api::explore(&config, program, registry::plan(&config)?, &mut lesson);
        let was_lost = verdict.as_ref().is_err_and(Error::is_lost);
        if was_lost && std::mem::take(&mut lesson.is_new) {
            lesson.known = lesson.better;
        } else if was_lost && strategies::may_keep_order(&config) {
            config.keeps_order = true;
        } else {
            return verdict;
        }
    }
}
