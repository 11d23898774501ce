//! Allocation, as in [`std::alloc`].
//!
//! With unpick's global allocator every block that a checked thread allocates is watched, whoever
//! allocates it: `Box`, `Vec`, or these functions, which are those of the standard library. Inside
//! a check these are violations:
//!
//! - an object of unpick (an atomic, a lock, a cell) is used after its memory was freed, or its
//!   memory is freed by a thread that a use by another thread does not happen before;
//! - a block is freed twice, or what is freed is not the start of a block;
//! - an object is used in memory that nothing was written to;
//! - a block is left behind at the end, unless something in static memory leads to it, or
//!   [`Check::leaks`](crate::Check::leaks) is off.
//!
//! Plain memory is not watched: to read a freed block through a raw pointer gives a pattern, and
//! to use that as an address is a violation of its own, a crash. Memory is never used twice within
//! an execution, so an address that comes back (the problem called ABA) is not modelled; the freeing
//! that it needs is found instead. What `Arc` frees is ordered after every use by those who held it.
//!
//! ```
//! use std::sync::Arc;
//! use unpick::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
//! use unpick::thread;
//!
//! let verdict = unpick::Check::new().run(|| {
//!     let slot = Arc::new(AtomicPtr::new(Box::into_raw(Box::new(AtomicUsize::new(1)))));
//!     let theirs = Arc::clone(&slot);
//!     let reader = thread::spawn(move || {
//!         let value = theirs.load(Acquire);
//!         if !value.is_null() {
//!             unsafe { (*value).load(Relaxed) };
//!         }
//!     });
//!     let value = slot.swap(std::ptr::null_mut(), AcqRel);
//!     drop(unsafe { Box::from_raw(value) });
//!     reader.join().unwrap();
//! });
//! assert_eq!(verdict.unwrap().violation().unwrap().title, "use after free");
//! ```

use std::fmt;

pub use std::alloc::{Layout, LayoutError, alloc, alloc_zeroed, dealloc, handle_alloc_error, realloc};

/// A value that must be dropped: if it is forgotten, that is a leak.
///
/// It lives in a block of its own, which is found when it is left behind. What can be reached from
/// static memory is not left behind.
///
/// ```
/// use unpick::alloc::Track;
///
/// let verdict = unpick::Check::new().run(|| std::mem::forget(std::hint::black_box(Track::new(1))));
/// assert_eq!(verdict.unwrap().violation().unwrap().title, "leak");
/// ```
pub struct Track<T> {
    /// A byte more than the value, which may have no size.
    inner: Box<(T, u8)>,
}

impl<T> Track<T> {
    /// Tracks a value.
    pub fn new(value: T) -> Track<T> {
        Track { inner: Box::new((value, 0)) }
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.inner.0
    }

    /// The value, to change.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner.0
    }

    /// The value, which is tracked no longer.
    pub fn into_inner(self) -> T {
        self.inner.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Track<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get_ref().fmt(f)
    }
}

impl<T: Default> Default for Track<T> {
    fn default() -> Track<T> {
        Track::new(T::default())
    }
}
