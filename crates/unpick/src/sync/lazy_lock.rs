//! `LazyLock`, as in [`std::sync`].

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind};

use unpick_core::op::Value;
use unpick_runtime::facts::Uses;

use super::once::{DONE, Memory, NEW, POISONED, Parts};

/// What there is: the closure, until it runs; the value, when it has run; nothing, if it panicked.
union Data<T, F> {
    value: ManuallyDrop<T>,
    closure: ManuallyDrop<F>,
}

struct Contents<T, F> {
    state: Cell<Value>,
    data: UnsafeCell<Data<T, F>>,
}

/// A value that is made when it is first used, as [`std::sync::LazyLock`].
///
/// Inside a check any of the threads that come first may be the one that makes it; the others wait.
/// The making synchronises with all uses. A static one is made anew in each execution.
///
/// ```
/// use unpick::sync::LazyLock;
/// use unpick::thread;
///
/// static TABLE: LazyLock<Vec<u32>> = LazyLock::new(|| (0..4).map(|n| n * n).collect());
///
/// unpick::check(|| {
///     let other = thread::spawn(|| TABLE[2]);
///     assert_eq!((TABLE[3], other.join().unwrap()), (9, 4));
/// });
/// ```
pub struct LazyLock<T, F = fn() -> T> {
    parts: Parts,
    contents: Contents<T, F>,
}

// SAFETY: as for `std::sync::LazyLock`: one thread uses the closure and writes the value, before
// others see it.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that the closure will make.
    pub const fn new(f: F) -> LazyLock<T, F> {
        let data = UnsafeCell::new(Data { closure: ManuallyDrop::new(f) });
        LazyLock { parts: Parts::new("LazyLock"), contents: Contents { state: Cell::new(NEW), data } }
    }

    /// The value, which is made if it is not there; waits if somebody is at it.
    ///
    /// # Panics
    ///
    /// When the closure panics, or did.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        let fine = this.parts.run(&this.memory(), false, |_| {
            // SAFETY: this thread is the one that makes the value, and it does so once.
            unsafe { this.make() };
        });
        assert!(fine, "LazyLock instance has previously been poisoned");
        // SAFETY: the value is there, and its making happens before.
        unsafe { this.value() }
    }

    /// The value, which is made if it is not there, and which nobody else can use meanwhile.
    ///
    /// # Panics
    ///
    /// When the closure panics, or did.
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        let state = this.contents.state.get();
        assert!(state != POISONED, "LazyLock instance has previously been poisoned");
        if state == NEW {
            // SAFETY: the object is borrowed exclusively, and the closure was not used.
            let made = catch_unwind(AssertUnwindSafe(|| unsafe { this.make() }));
            let state = if made.is_ok() { DONE } else { POISONED };
            this.contents.state.set(state);
            this.parts.renew(state);
            made.unwrap_or_else(|payload| resume_unwind(payload));
        }
        // SAFETY: the value is there, and is borrowed exclusively.
        unsafe { &mut this.contents.data.get_mut().value }
    }

    /// Uses the closure up, and writes what it makes.
    ///
    /// # Safety
    ///
    /// The closure must be there, and nobody else may use the data.
    unsafe fn make(&self) {
        let data = self.contents.data.get();
        // SAFETY: the caller's promise. The closure is gone when it runs, whether it panics or not,
        // and no reference to the data is held meanwhile.
        unsafe {
            let closure = ManuallyDrop::take(&mut (*data).closure);
            let value = closure();
            data.write(Data { value: ManuallyDrop::new(value) });
        }
    }
}

impl<T, F> LazyLock<T, F> {
    /// The value, if it is there as far as the caller can know.
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        // SAFETY: the value is there, and its making happens before.
        this.parts.is_done(&this.memory()).then(|| unsafe { this.value() })
    }

    /// The value, if it is there, which nobody else can use meanwhile.
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        let is_made = this.contents.state.get() == DONE;
        // SAFETY: the value is there, and is borrowed exclusively.
        is_made.then(|| unsafe { &mut *this.contents.data.get_mut().value })
    }

    /// # Safety
    ///
    /// The value must be there, and its making must happen before.
    unsafe fn value(&self) -> &T {
        // SAFETY: the caller's promise.
        unsafe { &(*self.contents.data.get()).value }
    }

    fn memory(&self) -> Memory<'_> {
        let contents = (&raw const self.contents).cast_mut().cast();
        let size = size_of::<Contents<T, F>>();
        Memory { state: &self.contents.state, contents: (contents, size), uses: Uses::of::<T> }
    }
}

impl<T, F> Drop for LazyLock<T, F> {
    fn drop(&mut self) {
        let data = self.contents.data.get_mut();
        match self.contents.state.get() {
            // SAFETY: the closure is there, and is not used any more.
            NEW => unsafe { ManuallyDrop::drop(&mut data.closure) },
            // SAFETY: as above, for the value.
            DONE => unsafe { ManuallyDrop::drop(&mut data.value) },
            _ => {}
        }
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    fn deref_mut(&mut self) -> &mut T {
        LazyLock::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match LazyLock::get(self) {
            Some(value) => f.debug_tuple("LazyLock").field(value).finish(),
            None => f.debug_tuple("LazyLock").field(&format_args!("<uninit>")).finish(),
        }
    }
}
