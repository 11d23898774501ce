//! A place where one thread leaves a value for another, written for loom: `std`'s types in ordinary builds, and
//! loom's with `--cfg loom`.
//!
//! The tests run in three ways, of which only the first needs loom:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test --test loom
//! RUSTFLAGS="--cfg loom" cargo test --config 'patch.crates-io.loom.path="../../stand-ins/loom"'
//! RUSTFLAGS="--cfg loom" cargo test --manifest-path renamed/Cargo.toml
//! ```

use std::mem::MaybeUninit;

use crate::sync::{AtomicU8, Ordering, UnsafeCell};

#[cfg(loom)]
mod sync {
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{AtomicU8, Ordering};
}

#[cfg(not(loom))]
mod sync {
    pub(crate) use std::sync::atomic::{AtomicU8, Ordering};

    /// As loom's, so that the same code compiles with either.
    #[derive(Debug)]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) fn new(value: T) -> UnsafeCell<T> {
            UnsafeCell(std::cell::UnsafeCell::new(value))
        }

        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

const EMPTY: u8 = 0;
const WRITING: u8 = 1;
const FULL: u8 = 2;
const READING: u8 = 3;

/// A place for one value.
#[derive(Debug)]
pub struct Slot<T> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
    /// The order in which a value is announced.
    announce: Ordering,
}

// SAFETY: whoever has moved the state on has the value to itself.
unsafe impl<T: Send> Sync for Slot<T> {}

impl<T> Slot<T> {
    /// An empty place.
    pub fn new() -> Slot<T> {
        Slot::announcing(Ordering::Release)
    }

    /// An empty place with a mistake: that there is a value is announced without saying that it was written.
    #[doc(hidden)]
    pub fn careless() -> Slot<T> {
        Slot::announcing(Ordering::Relaxed)
    }

    fn announcing(announce: Ordering) -> Slot<T> {
        let value = UnsafeCell::new(MaybeUninit::uninit());
        Slot { state: AtomicU8::new(EMPTY), value, announce }
    }

    /// Leaves a value.
    ///
    /// # Errors
    ///
    /// With the value, when there is one already.
    pub fn put(&self, value: T) -> Result<(), T> {
        if !self.moves(EMPTY, WRITING) {
            return Err(value);
        }
        // SAFETY: nobody else looks at the value in this state.
        self.value.with_mut(|place| unsafe { place.cast::<T>().write(value) });
        self.state.store(FULL, self.announce);
        Ok(())
    }

    /// Takes the value, if there is one.
    pub fn take(&self) -> Option<T> {
        if !self.moves(FULL, READING) {
            return None;
        }
        // SAFETY: the value is there, and nobody else looks at it in this state.
        let value = self.value.with(|place| unsafe { place.cast::<T>().read() });
        self.state.store(EMPTY, Ordering::Release);
        Some(value)
    }

    fn moves(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot::new()
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}
