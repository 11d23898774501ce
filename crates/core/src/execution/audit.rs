//! What must hold when an execution ends, and when the next one is made.

use super::Execution;
#[cfg(feature = "audit")]
use crate::event::EventId;
#[cfg(feature = "audit")]
use crate::op::Addr;
use crate::op::ThreadId;

/// Longer graphs are not looked at: that takes time that grows with the square of their length.
#[cfg(feature = "audit")]
const LONGEST: usize = 1000;

impl Execution {
    /// Whether each thread has had all its events, and has ended, waits, or stands before its next op.
    pub(super) fn is_at_rest(&self) -> bool {
        let standings = |(t, run): (usize, &super::Progress)| {
            let thread = ThreadId(t as u32);
            let sets = [&self.runnable, &self.waiting, &self.blocked];
            let goes_on = self.ready.contains(thread) || sets.iter().any(|set| set.contains(thread));
            let known = goes_on || self.graph.is_finished(thread);
            !run.started || (known && run.pc as usize == self.graph.thread_len(thread))
        };
        self.progress.iter().enumerate().all(standings)
    }

    /// Looks at the graph and at what the strategy keeps, in builds with the feature `audit`.
    ///
    /// # Panics
    ///
    /// When something is wrong with them.
    pub(super) fn audit(&mut self) {
        #[cfg(feature = "audit")]
        if self.graph.len() <= LONGEST {
            let flaw = self.graph.flaw().or_else(|| self.strategy.flaw(&self.graph));
            if let Some(flaw) = flaw {
                panic!("after {} executions by {}: {flaw}", self.stats.runs, self.strategy.name());
            }
            let is_access = |id: &EventId| self.graph.event(*id).addr != Addr::NONE;
            let accesses: Vec<EventId> = self.graph.order().iter().copied().filter(is_access).collect();
            let consistent = self.model.consistent(&self.graph, &accesses);
            let name = self.model.name();
            assert!(
                consistent,
                "after {} executions: the graph is not consistent under {name}",
                self.stats.runs
            );
        }
    }

    /// [`Execution::audit`], if there is another graph to run.
    pub(super) fn audit_next(&mut self, more: bool) -> bool {
        if more {
            self.audit();
        }
        more
    }
}
