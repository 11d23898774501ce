//! What one execution tells about the program that all executions must know.

use unpick_core::op::ThreadId;

use crate::ops::Caller;
use crate::session::depart_for_good;

/// Something about the program that is found out as it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// Threads that take a lock for reading: a bit for each.
    Readers,
    /// As many bits as threads were seen to wait for one condition at a time.
    Waiters,
    /// Whether a thread tries a mutex that another one takes together with others.
    TriesTogether,
}

impl Caller {
    /// What is known.
    pub(crate) fn fact(&self, fact: Fact) -> u64 {
        self.session().search.knowledge.get(fact as usize)
    }

    /// Says that these bits are set. If that is new, the exploration starts again.
    pub(crate) fn learn(&self, fact: Fact, bits: u64) {
        if self.session().search.learn(fact as usize, bits) {
            depart_for_good(self.session);
        }
    }

    /// The number of a thread, as the exploration calls it whose schedule is followed.
    pub(crate) fn number_of(&self, thread: usize) -> u32 {
        self.session().search.knowledge.name_of(ThreadId(thread as u32))
    }
}
