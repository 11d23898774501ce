//! A lock without contents, for building other locks.

use unpick_core::op::{Addr, Op};
use unpick_runtime::Tag;
use unpick_runtime::ops::{self, Object};

use crate::here;

/// A lock without contents: lock and unlock are calls of their own.
///
/// Inside a check, unlocking a lock that the thread does not hold is a violation.
///
/// ```
/// use unpick::sync::RawMutex;
///
/// let lock = RawMutex::new();
/// lock.lock();
/// assert!(!lock.try_lock());
/// lock.unlock();
/// ```
#[derive(Debug, Default)]
pub struct RawMutex {
    tag: Tag,
    outside: std::sync::Mutex<bool>,
    freed: std::sync::Condvar,
}

impl RawMutex {
    /// A free lock.
    pub const fn new() -> RawMutex {
        RawMutex { tag: Tag::new(), outside: std::sync::Mutex::new(false), freed: std::sync::Condvar::new() }
    }

    /// Takes the lock, waiting until it is free.
    #[track_caller]
    #[inline]
    pub fn lock(&self) {
        if ops::in_check() {
            ops::on_object(self.object(), 0, Op::lock(Addr::NONE, here!()));
            return;
        }
        let taken = self.outside.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let waited = self.freed.wait_while(taken, |taken| *taken);
        *waited.unwrap_or_else(|poisoned| poisoned.into_inner()) = true;
    }

    /// Takes the lock if it is free, and says whether it was.
    #[track_caller]
    #[inline]
    pub fn try_lock(&self) -> bool {
        if ops::in_check() {
            return ops::on_object(self.object(), 0, Op::try_lock(Addr::NONE, here!())) == 0;
        }
        let mut taken = self.outside.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        !std::mem::replace(&mut *taken, true)
    }

    /// Gives the lock back.
    #[track_caller]
    #[inline]
    pub fn unlock(&self) {
        if ops::in_check() {
            ops::on_object(self.object(), 0, Op::unlock(Addr::NONE, here!()));
            return;
        }
        *self.outside.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = false;
        self.freed.notify_one();
    }

    fn object(&self) -> Object<'_> {
        Object::new(&self.tag, "Mutex")
    }
}
