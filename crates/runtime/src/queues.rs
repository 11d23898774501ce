//! Locks for readers and a writer, where a writer that waits keeps out readers that come later.
//!
//! A thread that reads such a lock already and asks to read it once more then waits for the writer, which waits for the thread.
//! Nothing that comes afterwards changes that, so it is enough to stop the thread there, on the guess that a writer waits. If all
//! threads have come as far as they can and one of them waits to write, it may have come first: that is a deadlock. If none does, the guess
//! was wrong, and the execution is given up.
//!
//! Threads are noted here only where a lock is known to be read once more and to be written.

use unpick_core::op::{Addr, Site, ThreadId};
use unpick_core::violation::{Wait, Waiter};

use crate::current::context;
use crate::facts::{self, Fact};
use crate::session::Session;
use crate::{Tag, arena, ops};

/// A thread, and the address of the lock that it asks for.
type Asks = (ThreadId, usize);

/// Who asks for which lock, in the current run.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    to_write: Vec<Asks>,
    to_read_again: Vec<Asks>,
}

impl Queues {
    /// A run begins.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.to_write.clear();
        self.to_read_again.clear();
    }

    /// Whether a thread waits to read a lock once more that none of those who wait asks to write.
    pub(crate) fn has_guessed_wrong(&self, waiters: &[Waiter]) -> bool {
        let waits = |&(thread, lock): &Asks, wanted| {
            lock == wanted && waiters.iter().any(|one| one.point.thread == thread)
        };
        self.to_read_again.iter().any(|&(_, lock)| !self.to_write.iter().any(|asks| waits(asks, lock)))
    }
}

/// The session of the caller.
fn session<'a>() -> (&'a mut Session, ThreadId) {
    let (session, thread) = context();
    // SAFETY: the session outlives its fibers, and no other reference to it is in use while one runs; callers let go of this one
    // before the fiber is left.
    (unsafe { &mut *session }, thread)
}

/// Called by a thread that reads a lock already, before it does so once more; `bit`: that of the type, `tag`: of the location that it has.
/// It does not return where it waits for a writer.
pub fn read_again(lock: usize, bit: impl FnOnce() -> u64, tag: &Tag, site: Site) {
    if !session().0.limits.writers_go_first {
        return;
    }
    let bit = bit();
    facts::learn(Fact::ReadsAgain, bit);
    if facts::fact(Fact::RereadsAreWritten) & bit != 0 && ops::guess(2, site) == 1 {
        let arena = arena::enter(std::ptr::null_mut());
        let (session, thread) = session();
        session.queues.to_read_again.push((thread, lock));
        arena::enter(arena);
        ops::stop(Wait::Writer { addr: Addr(tag.number()) }, site)
    }
}

/// Called by a thread that reads a lock already, before it tries to do so once more, which may fail while another waits to write.
pub fn try_again(bit: impl FnOnce() -> u64, site: Site) {
    if !session().0.limits.writers_go_first {
        return;
    }
    let bit = bit();
    facts::learn(Fact::ReadsAgain, bit);
    if facts::fact(Fact::RereadsAreWritten) & bit != 0 {
        let arena = arena::enter(std::ptr::null_mut());
        session().0.assume("`try_read` of a thread that reads the lock already succeeds", site);
        arena::enter(arena);
    }
}

/// Runs `f`, which waits to write a lock; `bit`: that of the type.
pub fn write<R>(lock: usize, bit: impl FnOnce() -> u64, f: impl FnOnce() -> R) -> R {
    let again = facts::fact(Fact::ReadsAgain);
    if again == 0 {
        return f();
    }
    let bit = bit();
    if again & bit == 0 {
        return f();
    }
    facts::learn(Fact::RereadsAreWritten, bit);
    let arena = arena::enter(std::ptr::null_mut());
    let (here, thread) = session();
    here.queues.to_write.push((thread, lock));
    arena::enter(arena);
    let result = f();
    session().0.queues.to_write.retain(|asks| *asks != (thread, lock));
    result
}

#[cfg(test)]
mod tests {
    use unpick_core::violation::Point;

    use super::*;

    #[test]
    fn a_guess_is_right_if_a_thread_waits_to_write_the_same_lock() {
        let waits = |thread: u32| Waiter {
            point: Point { thread: ThreadId(thread), index: 0, site: Site(0) },
            wait: Wait::Writer { addr: Addr(0) },
        };
        let mut queues = Queues::default();
        assert!(!queues.has_guessed_wrong(&[waits(1)]));
        queues.to_read_again.push((ThreadId(1), 64));
        assert!(queues.has_guessed_wrong(&[waits(1)]));
        queues.to_write.push((ThreadId(2), 128));
        assert!(queues.has_guessed_wrong(&[waits(1), waits(2)]), "another lock");
        queues.to_write.push((ThreadId(3), 64));
        assert!(queues.has_guessed_wrong(&[waits(1), waits(2)]), "a thread that does not wait");
        assert!(!queues.has_guessed_wrong(&[waits(1), waits(3)]));
        queues.clear();
        assert!(!queues.has_guessed_wrong(&[waits(1)]));
    }
}
