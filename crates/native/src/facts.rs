//! What one execution tells about the program that all executions must know.

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

const FACTS: usize = 3;

/// The facts that are known.
pub(crate) type Facts = unpick_core::facts::Facts<FACTS>;

impl Caller {
    /// What is known.
    pub(crate) fn fact(&self, fact: Fact) -> u64 {
        self.session().facts.get(fact as usize)
    }

    /// Says that these bits are set. If that is new, the exploration starts again.
    pub(crate) fn learn(&self, fact: Fact, bits: u64) {
        let s = self.session();
        if s.facts.learn(fact as usize, bits) {
            s.renew = true;
            s.execution.repeat();
            depart_for_good(self.session);
        }
    }

    /// The number of a thread, as the exploration calls it whose schedule is followed.
    pub(crate) fn number_of(&self, thread: usize) -> u32 {
        self.session().names.get(thread).copied().unwrap_or(thread as u32)
    }
}
