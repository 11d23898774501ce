//! What one execution tells about the program that all executions must know.
//!
//! Some things cost events, and most programs do without: telling others that a thread has ended,
//! for instance. They are left out until an execution needs them. Then the fact is noted, and the
//! exploration starts again.

use crate::arena;
use crate::current;
use crate::ops::leave_for_good;

/// Something about the program that is found out as it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Somebody asks whether a thread has ended.
    EndsAreWatched,
    /// Threads that take a lock for reading: a bit for each.
    Readers,
    /// As many bits as threads were seen to wait for one condition at a time.
    Waiters,
    /// What a shared pointer points to does something visible when it is dropped: a bit for the type.
    DropsAreVisible,
    /// A lock that a panic has poisoned is made good again.
    PoisonIsCleared,
    /// Somebody looks at the strong count of a shared pointer: a bit for the type.
    CountsAreWatched,
    /// Somebody looks at the weak count of a shared pointer: a bit for the type.
    WeakCountsAreWatched,
    /// Somebody looks, without waiting, whether a channel has lost its senders.
    ClosingIsPolled,
    /// A task is aborted.
    TasksAreAborted,
}

const FACTS: usize = 9;

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

/// What is known.
///
/// # Panics
///
/// Outside a check.
pub fn fact(fact: Fact) -> u64 {
    let (session, _) = current::context();
    // SAFETY: the session outlives its fibers, and no reference to it is in use while one runs.
    unsafe { (*session).facts.0[fact as usize] }
}

/// Says that these bits are set. If that is new, the exploration starts again.
///
/// # Panics
///
/// Outside a check.
pub fn learn(fact: Fact, bits: u64) {
    let (session, thread) = current::context();
    // SAFETY: as in `fact`.
    let s = unsafe { &mut *session };
    let known = &mut s.facts.0[fact as usize];
    if *known | bits != *known {
        *known |= bits;
        arena::enter(std::ptr::null_mut());
        s.renew = true;
        s.execution.repeat();
        leave_for_good(session, thread);
    }
}
