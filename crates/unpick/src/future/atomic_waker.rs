//! A place for one waker.

use std::fmt;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::task::Waker;

use unpick_core::op::{Addr, Op};
use unpick_runtime::Tag;
use unpick_runtime::ops::{self, Object};

use crate::here;

/// A place where one task leaves its waker and others find it, as in the `futures` crate.
///
/// The task calls [`register`](AtomicWaker::register) and *then* looks whether what it waits for has
/// happened; whoever makes it happen calls [`wake`](AtomicWaker::wake) afterwards. Then either the
/// task sees that it has happened, or its waker is called.
///
/// The calls on one `AtomicWaker` take place one after the other, and each happens before the next.
/// Two of them that come at the same time are two executions; a `wake` that comes before a `register`
/// does not call the new waker, but the task that registered knows what came before the `wake`. The
/// original may call it all the same, which the task must be prepared for anyway.
///
/// [`block_on`](crate::future::block_on) has an example.
pub struct AtomicWaker {
    tag: Tag,
    /// Inside a check nobody waits for this lock: whoever takes it holds the engine's.
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    /// A place without a waker.
    pub const fn new() -> AtomicWaker {
        AtomicWaker { tag: Tag::new(), waker: Mutex::new(None) }
    }

    /// Leaves a waker, in place of one that was left before.
    #[track_caller]
    pub fn register(&self, waker: &Waker) {
        // What a waker does when it is cloned or dropped is the program's, so that comes before and after.
        let new = waker.clone();
        let old = self.locked(|place| place.replace(new));
        drop(old);
    }

    /// Takes the waker, if there is one, and calls it.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take() {
            waker.wake();
        }
    }

    /// Takes the waker, if there is one.
    #[track_caller]
    pub fn take(&self) -> Option<Waker> {
        self.locked(Option::take)
    }

    #[track_caller]
    fn locked<R>(&self, f: impl FnOnce(&mut Option<Waker>) -> R) -> R {
        if !ops::in_check() {
            self.tag.assert_outside();
            return f(&mut self.waker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        }
        let site = here!();
        ops::on_object(self.object(), 0, Op::lock(Addr::NONE, site));
        let result = f(&mut self.inside());
        ops::on_object(self.object(), 0, Op::unlock(Addr::NONE, site));
        result
    }

    fn inside(&self) -> MutexGuard<'_, Option<Waker>> {
        match self.waker.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => panic!("an AtomicWaker is used inside a check and outside"),
        }
    }

    fn object(&self) -> Object<'_> {
        let contents = (&raw const self.waker).cast_mut().cast::<u8>();
        Object { tag: &self.tag, kind: "AtomicWaker", contents: (contents, size_of_val(&self.waker)) }
    }
}

impl Default for AtomicWaker {
    fn default() -> AtomicWaker {
        AtomicWaker::new()
    }
}

impl fmt::Debug for AtomicWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicWaker").finish_non_exhaustive()
    }
}
