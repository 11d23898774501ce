//! What one execution tells about the program that all executions must know.
//!
//! Some things cost events, and most programs do without. They are left out until an execution needs them. Then the
//! fact is noted, and the exploration starts again.

use crate::ops::Caller;
use crate::session::depart_for_good;

/// Something about the program that is found out as it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// Threads that take a lock for reading: a bit for each.
    Readers,
    /// As many bits as threads were seen to wait for one condition at a time.
    Waiters,
}

const FACTS: usize = 2;

/// The facts that are known, as bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts([u64; FACTS]);

impl Facts {
    /// The facts that a schedule brings along.
    pub(crate) fn new(bits: &[u64]) -> Facts {
        let mut facts = Facts::default();
        facts.0.iter_mut().zip(bits).for_each(|(fact, &bits)| *fact = bits);
        facts
    }

    /// All bits, in the order of [`Fact`].
    pub(crate) fn bits(&self) -> &[u64] {
        &self.0
    }
}

impl Caller {
    /// What is known.
    pub(crate) fn fact(&self, fact: Fact) -> u64 {
        self.session().facts.0[fact as usize]
    }

    /// Says that these bits are set. If that is new, the exploration starts again.
    pub(crate) fn learn(&self, fact: Fact, bits: u64) {
        let s = self.session();
        let known = &mut s.facts.0[fact as usize];
        if *known | bits != *known {
            *known |= bits;
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
