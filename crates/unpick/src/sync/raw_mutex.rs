//! A lock without contents, for building other locks.

use unpick_core::op::{Addr, Op};
use unpick_runtime::Tag;
use unpick_runtime::ops::{self, Object};

use crate::{here, plain_lock};

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
    outside: plain_lock::RawMutex,
}

impl RawMutex {
    /// A free lock.
    pub const fn new() -> RawMutex {
        RawMutex { tag: Tag::new(), outside: plain_lock::RawMutex::new() }
    }

    /// Takes the lock, waiting until it is free.
    #[track_caller]
    #[inline]
    pub fn lock(&self) {
        if ops::in_check() {
            ops::on_object(self.object(), 0, Op::lock(Addr::NONE, here!()));
            return;
        }
        self.outside.lock();
    }

    /// Takes the lock if it is free, and says whether it was.
    #[track_caller]
    #[inline]
    pub fn try_lock(&self) -> bool {
        if ops::in_check() {
            return ops::on_object(self.object(), 0, Op::try_lock(Addr::NONE, here!())) == 0;
        }
        self.outside.try_lock()
    }

    /// Gives the lock back.
    #[track_caller]
    #[inline]
    pub fn unlock(&self) {
        if ops::in_check() {
            ops::on_object(self.object(), 0, Op::unlock(Addr::NONE, here!()));
            return;
        }
        self.outside.unlock();
    }

    fn object(&self) -> Object<'_> {
        Object::new(&self.tag, "Mutex")
    }
}
