//! What one execution tells about the program that all executions must know.
//!
//! Telling others that a thread has ended costs events, for instance, and few programs ask.

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

/// The facts that are known.
pub(crate) type Facts = unpick_core::facts::Facts<FACTS>;

/// What is known.
///
/// # Panics
///
/// Outside a check.
pub fn fact(fact: Fact) -> u64 {
    let (session, _) = current::context();
    // SAFETY: the session outlives its fibers, and no reference to it is in use while one runs.
    unsafe { (*session).facts.get(fact as usize) }
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
    if s.facts.learn(fact as usize, bits) {
        arena::enter(std::ptr::null_mut());
        s.renew = true;
        s.execution.repeat();
        leave_for_good(session, thread);
    }
}
