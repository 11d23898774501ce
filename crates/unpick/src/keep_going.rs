//! Going on after a violation: which violations are the same, and what is kept of each.
//!
//! The graph of a failing execution is gone when the search goes on, so the schedules that lead to the
//! violation are made at once. The violations are told when the search is over.

use std::sync::{Arc, Mutex};

use unpick_check::Config;
use unpick_core::execution::Outcome;
use unpick_core::op::Site;
use unpick_core::violation::{Kind, Violation};
use unpick_runtime::worker::{Ending, Explored, Observer};

use unpick_check::ways::Ways;

/// A violation that was found.
pub(crate) struct Found {
    pub(crate) violation: Violation,
    /// How to get there.
    pub(crate) ways: Ways,
    /// Number of the execution, from 1.
    pub(crate) number: u64,
}

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
            let signature = signature(violation);
            if found.iter().all(|known| self::signature(&known.violation) != signature) {
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

/// What two violations have in common that are the same to a reader: their kind and their places.
fn signature(violation: &Violation) -> (&'static str, Vec<Site>, &str) {
    let (mut sites, text) = match &violation.kind {
        Kind::Panic { place, message } if place.is_empty() => (Vec::new(), message.as_str()),
        Kind::Panic { place, .. } => (Vec::new(), place.as_str()),
        Kind::Race { accesses, .. } => (accesses.iter().map(|access| access.point.site).collect(), ""),
        Kind::Deadlock { waiters } | Kind::Livelock { waiters } => {
            (waiters.iter().map(|waiter| waiter.point.site).collect(), "")
        }
        _ => (vec![violation.point.site], ""),
    };
    sites.sort_unstable();
    sites.dedup();
    (violation.title(), sites, text)
}

#[cfg(test)]
mod tests {
    use unpick_core::op::ThreadId;
    use unpick_core::violation::{Access, Point};

    use super::*;

    #[test]
    fn races_are_the_same_whoever_comes_first() {
        let access = |thread: u32, site: u64| Access {
            point: Point { thread: ThreadId(thread), index: thread, site: Site(site) },
            writes: true,
            atomic: false,
        };
        let race = |a: Access, b: Access| Violation {
            kind: Kind::Race { accesses: [a, b], object: String::from("UnsafeCell") },
            point: b.point,
        };
        let (one, other) = (race(access(1, 5), access(2, 6)), race(access(4, 6), access(3, 5)));
        assert_eq!(signature(&one), signature(&other));
        assert_ne!(signature(&one), signature(&race(access(1, 5), access(2, 7))));
    }
}
