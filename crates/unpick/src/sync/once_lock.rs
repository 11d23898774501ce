//! `OnceLock`, as in [`std::sync`].

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::panic::{RefUnwindSafe, UnwindSafe};

use unpick_core::op::Value;
use unpick_runtime::facts::Uses;

use super::once::{DONE, Memory, NEW, Parts};

const KIND: &str = "OnceLock";

struct Contents<T> {
    state: Cell<Value>,
    /// Written when the state is [`DONE`].
    value: UnsafeCell<MaybeUninit<T>>,
}

/// A value that is written once, as [`std::sync::OnceLock`].
///
/// Inside a check any of the threads that come first may be the one that writes; the others wait.
/// The writing synchronises with all that find the value.
///
/// ```
/// use unpick::sync::{Arc, OnceLock};
/// use unpick::thread;
///
/// unpick::check(|| {
///     let cell = Arc::new(OnceLock::new());
///     let theirs = Arc::clone(&cell);
///     let other = thread::spawn(move || *theirs.get_or_init(|| 1));
///     let mine = *cell.get_or_init(|| 2);
///     assert_eq!(mine, other.join().unwrap());
/// });
/// ```
pub struct OnceLock<T> {
    parts: Parts,
    contents: Contents<T>,
    owns: PhantomData<T>,
}

// SAFETY: as for `std::sync::OnceLock`: the value is written by one thread, before others see it.
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for OnceLock<T> {}
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// No value yet.
    pub const fn new() -> OnceLock<T> {
        let value = UnsafeCell::new(MaybeUninit::uninit());
        OnceLock {
            parts: Parts::new(KIND),
            contents: Contents { state: Cell::new(NEW), value },
            owns: PhantomData,
        }
    }

    /// The value, if it is there as far as the caller can know.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        // SAFETY: the value is there, and its writing happens before.
        self.parts.is_done(&self.memory()).then(|| unsafe { self.value() })
    }

    /// The value, which nobody else can use meanwhile.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: the value is there, and is borrowed exclusively.
        self.is_written().then(|| unsafe { self.contents.value.get_mut().assume_init_mut() })
    }

    /// The value, waiting until somebody has written it.
    #[track_caller]
    pub fn wait(&self) -> &T {
        self.parts.wait(&self.memory(), true);
        // SAFETY: as in `get`.
        unsafe { self.value() }
    }

    /// Writes the value; waits if somebody is at it.
    ///
    /// # Errors
    ///
    /// When there is a value already.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.run(|| value.take());
        value.map_or(Ok(()), Err)
    }

    /// The value, which the closure makes if there is none; waits if somebody is at it. When the
    /// closure panics, there is no value still.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        self.run(|| Some(f()));
        // SAFETY: as in `get`.
        unsafe { self.value() }
    }

    /// The value.
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// The value; there is none any more.
    pub fn take(&mut self) -> Option<T> {
        if !self.is_written() {
            return None;
        }
        self.contents.state.set(NEW);
        self.parts.renew(NEW);
        // SAFETY: the value was there, and is taken once.
        Some(unsafe { self.contents.value.get_mut().assume_init_read() })
    }

    /// Writes what the closure makes if there is no value.
    #[track_caller]
    fn run(&self, f: impl FnOnce() -> Option<T>) {
        self.parts.run(&self.memory(), true, |_| {
            if let Some(value) = f() {
                // SAFETY: this thread is the one that writes, and nobody reads before it is done.
                unsafe { (*self.contents.value.get()).write(value) };
            }
        });
    }

    /// # Safety
    ///
    /// The value must be there, and its writing must happen before.
    unsafe fn value(&self) -> &T {
        // SAFETY: the caller's promise.
        unsafe { (*self.contents.value.get()).assume_init_ref() }
    }

    /// Whether the value is there, for who has the object for itself.
    fn is_written(&mut self) -> bool {
        self.contents.state.get() == DONE
    }

    fn memory(&self) -> Memory<'_> {
        let contents = (&raw const self.contents).cast_mut().cast();
        let size = size_of::<Contents<T>>();
        Memory { state: &self.contents.state, contents: (contents, size), uses: Uses::of::<T> }
    }
}

impl<T> Drop for OnceLock<T> {
    fn drop(&mut self) {
        if self.is_written() {
            // SAFETY: the value is there, and is not used any more.
            unsafe { self.contents.value.get_mut().assume_init_drop() };
        }
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> OnceLock<T> {
        let value = UnsafeCell::new(MaybeUninit::new(value));
        OnceLock {
            parts: Parts::done(KIND),
            contents: Contents { state: Cell::new(DONE), value },
            owns: PhantomData,
        }
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> OnceLock<T> {
        self.get().map_or_else(OnceLock::new, |value| OnceLock::from(value.clone()))
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Some(value) => f.debug_tuple("OnceLock").field(value).finish(),
            None => f.debug_tuple("OnceLock").field(&format_args!("<uninit>")).finish(),
        }
    }
}
