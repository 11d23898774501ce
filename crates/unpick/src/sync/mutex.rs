//! `Mutex`, as in [`std::sync`].

use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use unpick_core::op::{Addr, Op, Site};
use unpick_runtime::ops::{self, Object};
use unpick_runtime::{Tag, panics};

use super::poison::Poison;
use crate::here;

/// What a mutex guards.
struct Contents<T: ?Sized> {
    /// Looked at without the lock.
    poisoned: AtomicBool,
    value: UnsafeCell<T>,
}

/// A lock and the value that it guards, as [`std::sync::Mutex`].
///
/// Inside a check any waiting thread may be the next to get the lock. Unlocking synchronises with
/// the next locking. [`try_lock`](Mutex::try_lock) fails only when the lock is taken, or was and
/// the thread cannot know better. Poisoning is as in `std`.
///
/// ```
/// use unpick::sync::Mutex;
///
/// let mutex = Mutex::new(1);
/// *mutex.lock().unwrap() += 1;
/// assert_eq!(mutex.into_inner().unwrap(), 2);
/// ```
pub struct Mutex<T: ?Sized> {
    tag: Tag,
    poison: Poison,
    outside: std::sync::Mutex<()>,
    contents: Contents<T>,
}

// SAFETY: as for `std::sync::Mutex`: the lock, of the engine or of `std`, keeps accesses apart.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
// A panic while the lock is held poisons it.
impl<T: ?Sized> UnwindSafe for Mutex<T> {}
impl<T: ?Sized> RefUnwindSafe for Mutex<T> {}

impl<T> Mutex<T> {
    /// A free mutex with a value.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex {
            tag: Tag::new(),
            poison: Poison::new(),
            outside: std::sync::Mutex::new(()),
            contents: Contents { poisoned: AtomicBool::new(false), value: UnsafeCell::new(value) },
        }
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// When a thread panicked while it held the lock.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.contents.poisoned.load(Ordering::Relaxed);
        let value = self.contents.value.into_inner();
        if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Takes the lock, waiting until it is free.
    ///
    /// # Errors
    ///
    /// When a thread panicked while it held the lock.
    #[track_caller]
    #[inline]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        if ops::in_check() {
            let site = here!();
            ops::on_object(self.object(), 0, Op::lock(Addr::NONE, site));
            return self.guard(None, site);
        }
        self.tag.assert_outside();
        let outside = self.outside.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.guard(Some(outside), Site(0))
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    ///
    /// When it is not, or a thread panicked while it held the lock.
    #[track_caller]
    #[inline]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        if ops::in_check() {
            let site = here!();
            if ops::on_object(self.object(), 0, Op::try_lock(Addr::NONE, site)) != 0 {
                return Err(TryLockError::WouldBlock);
            }
            return Ok(self.guard(None, site)?);
        }
        self.tag.assert_outside();
        let outside = match self.outside.try_lock() {
            Ok(outside) => outside,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
        };
        Ok(self.guard(Some(outside), Site(0))?)
    }

    /// Whether a thread panicked while it held the lock.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.poison.look(&self.contents.poisoned, here!())
    }

    /// Forgets that a thread panicked while it held the lock.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.poison.clear(&self.contents.poisoned, here!());
    }

    /// The value, which nobody else can use meanwhile.
    ///
    /// # Errors
    ///
    /// When a thread panicked while it held the lock.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.contents.poisoned.load(Ordering::Relaxed);
        let value = self.contents.value.get_mut();
        if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }

    fn object(&self) -> Object<'_> {
        let contents = (&raw const self.contents).cast_mut().cast::<u8>();
        Object { tag: &self.tag, kind: "Mutex", contents: (contents, size_of_val(&self.contents)) }
    }

    fn guard<'a>(
        &'a self,
        outside: Option<std::sync::MutexGuard<'a, ()>>,
        site: Site,
    ) -> LockResult<MutexGuard<'a, T>> {
        let guard = MutexGuard { mutex: self, outside, panicking: panics::panicking(), site };
        let poisoned = self.poison.is_marked(&self.contents.poisoned, site);
        if poisoned { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Where the mutex is: tells mutexes apart.
    pub(super) fn address(&self) -> usize {
        &raw const self.mutex.tag as usize
    }

    /// Gives the lock back for the time of a wait.
    pub(super) fn unlock_to_wait(&self) {
        ops::on_object(self.mutex.object(), 0, Op::unlock(Addr::NONE, self.site));
    }

    /// Takes the lock after a wait.
    pub(super) fn lock_again(&self, site: Site) {
        ops::on_object(self.mutex.object(), 0, Op::lock(Addr::NONE, site));
    }

    /// Lets `std`'s guard be used for a wait.
    pub(super) fn with_outside<R>(
        &mut self,
        f: impl FnOnce(std::sync::MutexGuard<'a, ()>) -> (std::sync::MutexGuard<'a, ()>, R),
    ) -> R {
        let outside = self.outside.take().expect("a lock taken inside a check was used outside");
        let (outside, result) = f(outside);
        self.outside = Some(outside);
        result
    }

    /// The guard, after a wait in which another thread may have panicked.
    pub(super) fn checked(self) -> LockResult<MutexGuard<'a, T>> {
        let poisoned = self.mutex.poison.is_marked(&self.mutex.contents.poisoned, self.site);
        if poisoned { Err(PoisonError::new(self)) } else { Ok(self) }
    }
}

/// A taken lock; given back when dropped.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    outside: Option<std::sync::MutexGuard<'a, ()>>,
    panicking: bool,
    /// Where the lock was taken: what a report says about the unlocking, which has no place of its
    /// own in the source.
    site: Site,
}

// SAFETY: a shared guard gives shared references to the value, and nothing else. It is not `Send`:
// a lock is given back by the thread that took it.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is held for as long as the guard lives.
        unsafe { &*self.mutex.contents.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the guard is borrowed exclusively.
        unsafe { &mut *self.mutex.contents.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        let Mutex { poison, contents, .. } = self.mutex;
        poison.mark(&contents.poisoned, self.panicking, self.site);
        if self.outside.is_none() && ops::in_check() {
            ops::on_object(self.mutex.object(), 0, Op::unlock(Addr::NONE, self.site));
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
