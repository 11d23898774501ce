//! violated: data race
//!
//! A lock as `lock_api` makes them: a raw lock of atomics, and the data in a cell; guards can be forgotten.

use std::ops::{Deref, DerefMut};

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering};
use unpick::thread;

trait RawLock {
    const NEW: Self;
    fn lock(&self);
    /// # Safety
    ///
    /// The caller has the lock.
    unsafe fn unlock(&self);
}

struct RawSpin(AtomicBool);

impl RawLock for RawSpin {
    #[allow(clippy::declare_interior_mutable_const, reason = "each use makes a new lock")]
    const NEW: RawSpin = RawSpin(AtomicBool::new(false));

    fn lock(&self) {
        while self.0.swap(true, Ordering::Acquire) {
            thread::yield_now();
        }
    }

    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

struct Mutex<R, T: ?Sized> {
    raw: R,
    data: UnsafeCell<T>,
}

// SAFETY: the raw lock guards the data.
unsafe impl<R: Sync, T: Send + ?Sized> Sync for Mutex<R, T> {}
// SAFETY: as above.
unsafe impl<R: Send, T: Send + ?Sized> Send for Mutex<R, T> {}

struct Guard<'a, R: RawLock, T: ?Sized>(&'a Mutex<R, T>);

impl<R: RawLock, T> Mutex<R, T> {
    fn new(data: T) -> Mutex<R, T> {
        Mutex { raw: R::NEW, data: UnsafeCell::new(data) }
    }

    fn lock(&self) -> Guard<'_, R, T> {
        self.raw.lock();
        Guard(self)
    }
}

impl<R: RawLock, T: ?Sized> Deref for Guard<'_, R, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard has the lock.
        unsafe { &*self.0.data.get() }
    }
}

impl<R: RawLock, T: ?Sized> DerefMut for Guard<'_, R, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.0.data.get() }
    }
}

impl<R: RawLock, T: ?Sized> Drop for Guard<'_, R, T> {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { self.0.raw.unlock() };
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let mutex = Arc::new(Mutex::<RawSpin, (u8, u32)>::new((0, 0)));
        let theirs = mutex.clone();
        let other = thread::spawn(move || {
            let mut guard = theirs.lock();
            guard.1 += 1;
            let late = &raw mut guard.1;
            drop(guard);
            // SAFETY: the lock was given back.
            unsafe { *late += 1 };
        });
        mutex.lock().1 += 1;
        other.join().unwrap();
    }
}
