//! What one execution tells about the program that all executions must know.
//!
//! Telling others that a thread has ended costs events, for instance, and few programs ask.
//!
//! Threads may share what the engine does not see, such as an atomic of `std`, through a value that is made once.
//! The uses of such values must have an order, and so be events. Often the name of the type tells; if it does not, a
//! replay that goes astray may.

use unpick_core::facts::Facts;
use unpick_core::op::ThreadId;

use crate::arena;
use crate::current;
use crate::ops::leave_for_good;
use crate::session::Session;

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
    /// Destructors of thread-locals do something visible in threads of a scope, which need not wait for them.
    LocalsOutliveScopes,
    /// A thread reads a lock that it reads already: a bit for the type of what is locked.
    ReadsAgain,
    /// Such a lock is written: a bit for the type.
    RereadsAreWritten,
    /// What is done with a value that is made once depends on who used it before: a bit for the type.
    UsesAreOrdered,
    /// Memory is freed that other threads may have a pointer to.
    FreesAreWatched,
    /// Something is written over an atomic that is used.
    AtomicsAreOverwritten,
}

/// Uses of values that are made once.
#[derive(Debug, Default)]
pub(crate) struct SharedUses {
    /// Types of the values, as bits, with the first thread that used one.
    users: Vec<(u64, ThreadId)>,
    /// Those that another thread has used as well.
    shared: u64,
}

impl SharedUses {
    /// Notes that a thread uses a value that is made once.
    fn note(&mut self, bit: u64, thread: ThreadId) {
        match self.users.iter().find(|(known, _)| *known == bit) {
            Some((_, first)) if *first == thread => {}
            Some(_) => self.shared |= bit,
            None => self.users.push((bit, thread)),
        }
    }
}

impl Session {
    /// All facts, if the uses of values that are made once and that threads share had an order.
    pub(crate) fn facts_with_order(&self) -> Facts {
        let mut facts = *self.search.knowledge.facts();
        facts.learn(Fact::UsesAreOrdered as usize, self.uses.shared);
        facts
    }

    /// Called when a replay has gone astray: whether the exploration starts again, with more that is visible.
    pub(crate) fn learn_from_divergence(&mut self) -> bool {
        self.recorder.is_none()
            && self.search.knowledge.learn(Fact::UsesAreOrdered as usize, self.uses.shared)
    }
}

/// A bit for a type. Types may share a bit, which costs time and nothing else.
pub fn bit_of<T: ?Sized>() -> u64 {
    let name = std::any::type_name::<T>().as_bytes();
    let hash = name.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    1 << (hash >> 58)
}

/// What the type of a value that is made once tells about its uses.
#[derive(Clone, Copy, Debug)]
pub struct Uses {
    bit: u64,
    /// Whether threads can share something through it that is not seen.
    hidden: bool,
}

impl Uses {
    /// What a type tells.
    pub fn of<T: ?Sized>() -> Uses {
        let name = std::any::type_name::<T>();
        let hidden = ["core::sync::atomic::", "std::sync::"].iter().any(|module| name.contains(module));
        Uses { bit: bit_of::<T>(), hidden }
    }
}

/// Says that the caller is about to use a value that is made once. Whether that must be an event.
///
/// # Panics
///
/// Outside a check.
pub fn use_is_ordered(Uses { bit, hidden }: Uses) -> bool {
    if hidden {
        return true;
    }
    let (session, thread) = current::context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `fact`.
    unsafe { (*session).uses.note(bit, thread) };
    arena::enter(arena);
    fact(Fact::UsesAreOrdered) & bit != 0
}

/// What is known.
///
/// # Panics
///
/// Outside a check.
pub fn fact(fact: Fact) -> u64 {
    let (session, _) = current::context();
    // SAFETY: the session outlives its fibers, and no reference to it is in use while one runs.
    unsafe { (*session).search.knowledge.get(fact as usize) }
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
    if s.search.learn(fact as usize, bits) {
        arena::enter(std::ptr::null_mut());
        leave_for_good(session, thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_threads_share_gets_an_order() {
        let mut uses = SharedUses::default();
        uses.note(1, ThreadId(1));
        uses.note(1, ThreadId(1));
        uses.note(2, ThreadId(1));
        assert_eq!(uses.shared, 0);
        uses.note(2, ThreadId(2));
        assert_eq!(uses.shared, 2);
    }

    #[test]
    fn a_type_has_one_bit_and_always_the_same() {
        assert!(bit_of::<u8>().is_power_of_two() && bit_of::<[u64; 3]>().is_power_of_two());
        assert_eq!(bit_of::<Option<String>>(), bit_of::<Option<String>>());
    }

    #[test]
    fn types_with_atomics_and_locks_of_the_standard_library_hide_something() {
        let hidden = [
            Uses::of::<std::sync::atomic::AtomicU8>(),
            Uses::of::<Vec<std::sync::Mutex<u8>>>(),
            Uses::of::<Option<std::sync::OnceLock<u8>>>(),
        ];
        assert!(hidden.iter().all(|uses| uses.hidden), "{hidden:?}");
        assert!(!Uses::of::<Vec<String>>().hidden);
    }
}
