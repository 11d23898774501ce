//! Going on after a violation: which violations are the same, and what is kept of each.
//!
//! The graph of a failing execution is gone when the search goes on, so the schedules that lead to the
//! violation are made at once. The violations are told when the search is over.

use std::sync::{Arc, Mutex};

use unpick_check::Config;
use unpick_check::ways::{Found, Ways};
use unpick_core::execution::Outcome;
use unpick_core::plan::Ending;
use unpick_runtime::worker::{Explored, Observer};

/// The violations of a search, each once.
#[derive(Clone, Default)]
pub(crate) struct Collection(Arc<Mutex<Vec<Found>>>);

impl Collection {
    /// Looks at executions, and says when enough violations have been found; `None` when the first
    /// is enough.
    pub(crate) fn observer(&self, config: &Config) -> Option<Observer> {
        if config.keep_going <= 1 {
            return None;
        }
        let (found, config) = (Arc::clone(&self.0), config.clone());
        let mut number = 0;
        Some(Box::new(move |graph, outcome, facts| {
            number += 1;
            let Outcome::Violated(violation) = outcome else { return true };
            let mut found = found.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if !found.iter().any(|known| known.is_like(violation)) {
                let ways = Ways::new(&config, graph, facts, violation);
                found.push(Found { violation: (**violation).clone(), ways, number });
            }
            found.len() < config.keep_going
        }))
    }

    /// What was found, in the order in which it was.
    pub(crate) fn finish(self, config: &Config, explored: &Explored) -> Vec<Found> {
        let mut found = std::mem::take(&mut *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        if let (true, Ending::Violated(violation)) = (found.is_empty(), &explored.ending) {
            let ways = Ways::new(config, explored.execution.graph(), &explored.facts, violation);
            found.push(Found { violation: violation.clone(), ways, number: explored.stats.executions() });
        }
        found
    }
}
