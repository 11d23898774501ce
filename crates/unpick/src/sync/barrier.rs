//! `Barrier`, as in [`std::sync`].

use std::cell::UnsafeCell;
use std::fmt;
use std::panic::RefUnwindSafe;

use unpick_core::op::{Addr, Mode, Op};
use unpick_runtime::Tag;
use unpick_runtime::ops::{self, Object};

use crate::here;
use crate::thread::{self, Wakes};

/// A point at which a number of threads wait for each other, as [`std::sync::Barrier`].
///
/// Inside a check threads arrive in any order, and the last is the leader. What happened before any
/// of them arrived happens before all of them go on.
///
/// ```
/// use unpick::sync::Barrier;
/// use unpick::thread;
///
/// unpick::check(|| {
///     let barrier = Barrier::new(2);
///     let leaders: usize = thread::scope(|scope| {
///         let other = scope.spawn(|| usize::from(barrier.wait().is_leader()));
///         usize::from(barrier.wait().is_leader()) + other.join().unwrap()
///     });
///     assert_eq!(leaders, 1);
/// });
/// ```
pub struct Barrier {
    tag: Tag,
    count: usize,
    /// The threads that have arrived; only for who has the lock that the tag stands for.
    arrived: UnsafeCell<Vec<u32>>,
    outside: std::sync::Barrier,
}

// SAFETY: the list is used inside a check only, where all threads run on one OS thread.
unsafe impl Send for Barrier {}
// SAFETY: as above.
unsafe impl Sync for Barrier {}
impl RefUnwindSafe for Barrier {}

impl Barrier {
    /// A barrier for `n` threads; for 0 it is as for 1.
    pub const fn new(n: usize) -> Barrier {
        Barrier {
            tag: Tag::new(),
            count: n,
            arrived: UnsafeCell::new(Vec::new()),
            outside: std::sync::Barrier::new(n),
        }
    }

    /// Waits until as many threads have arrived as the barrier is for. Then it starts from nothing.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        if !ops::in_check() {
            self.tag.assert_outside();
            return BarrierWaitResult(self.outside.wait().is_leader());
        }
        if self.count <= 1 {
            return BarrierWaitResult(true);
        }
        let site = here!();
        let this = Wakes::current();
        let contents = (self.arrived.get().cast::<u8>(), size_of::<Vec<u32>>());
        let object = Object { contents, ..Object::new(&self.tag, "Barrier") };
        ops::on_object(object, 0, Op::lock(Addr::NONE, site));
        // SAFETY: the lock is held, and the reference ends before it is given back.
        let arrived = unsafe { &mut *self.arrived.get() };
        let is_leader = arrived.len() + 1 == self.count;
        let others = if is_leader {
            std::mem::take(arrived)
        } else {
            arrived.push(this.number());
            Vec::new()
        };
        ops::on_object(object, 0, Op::unlock(Addr::NONE, site));
        if is_leader {
            others.iter().for_each(|&thread| thread::wake(thread, Mode::Release, site));
        } else {
            this.wait(Mode::Acquire, site);
        }
        BarrierWaitResult(is_leader)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

/// Whether a thread is the leader of those that waited, as [`std::sync::BarrierWaitResult`].
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether this is the thread that arrived last.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader()).finish()
    }
}
