//! The limit on events of an execution, and what does not count for it.

use super::Execution;
use crate::op::{Kind, ThreadId};

impl Execution {
    /// Leaves the events that come before the first thread is started out of account for the limit, so many at most: they have one
    /// order, and cost no executions.
    pub fn allow_alone(&mut self, events: usize) {
        self.max_alone = events;
    }

    /// Whether the limit on events is reached.
    #[inline(always)]
    pub(super) fn is_full(&mut self) -> bool {
        self.graph.total() - self.uncounted >= self.max_events && self.stays_full()
    }

    #[cold]
    #[inline(never)]
    fn stays_full(&mut self) -> bool {
        let events = self.graph.since(ThreadId::MAIN, 0);
        let alone = events.iter().position(|event| event.kind == Kind::Spawn).unwrap_or(events.len());
        self.uncounted = self.uncounted.max(alone.min(self.max_alone));
        self.graph.total() - self.uncounted >= self.max_events
    }

    /// Lets the limit on events count anew, from here on.
    pub fn count_events_anew(&mut self) {
        self.uncounted = self.graph.total();
    }
}
