//! A lock without contents: what it is without checks, and outside one.

use std::sync::{Condvar, Mutex, PoisonError};

/// A lock without contents: lock and unlock are calls of their own.
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
    taken: Mutex<bool>,
    freed: Condvar,
}

impl RawMutex {
    /// A free lock.
    pub const fn new() -> RawMutex {
        RawMutex { taken: Mutex::new(false), freed: Condvar::new() }
    }

    /// Takes the lock, waiting until it is free.
    pub fn lock(&self) {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.freed.wait_while(taken, |taken| *taken);
        *waited.unwrap_or_else(PoisonError::into_inner) = true;
    }

    /// Takes the lock if it is free, and says whether it was.
    pub fn try_lock(&self) -> bool {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut *taken, true)
    }

    /// Gives the lock back.
    pub fn unlock(&self) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.freed.notify_one();
    }
}
