//! Allocation, as in `loom::alloc`.
//!
//! With unpick's global allocator every block that a model allocates is watched, whoever allocates it: with a
//! plain `Box` too, uses after it was freed and double frees are found. As with loom, to leave memory behind is
//! a violation if it is of a shared pointer, of these functions or of [`Track`], and not if it is of a `Box`.

use unpick_runtime::owned;

pub use unpick::alloc::Layout;

/// Allocates memory, as [`std::alloc::alloc`]. To leave it behind is a leak.
///
/// # Safety
///
/// As for [`std::alloc::alloc`].
#[must_use]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller promises.
    owned(|| unsafe { std::alloc::alloc(layout) })
}

/// Allocates memory that is zero, as [`std::alloc::alloc_zeroed`]. To leave it behind is a leak.
///
/// # Safety
///
/// As for [`std::alloc::alloc_zeroed`].
#[must_use]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: as the caller promises.
    owned(|| unsafe { std::alloc::alloc_zeroed(layout) })
}

/// Frees memory, as [`std::alloc::dealloc`].
///
/// # Safety
///
/// As for [`std::alloc::dealloc`].
pub unsafe fn dealloc(ptr: *mut u8, layout: Layout) {
    // SAFETY: as the caller promises.
    unsafe { std::alloc::dealloc(ptr, layout) }
}

/// A value that must be dropped: if it is forgotten, that is a leak.
#[derive(Debug)]
pub struct Track<T> {
    value: unpick::alloc::Track<T>,
}

impl<T> Track<T> {
    /// Tracks a value.
    pub fn new(value: T) -> Track<T> {
        Track { value: owned(|| unpick::alloc::Track::new(value)) }
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        self.value.get_ref()
    }

    /// The value, to change.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// The value, which is tracked no longer.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}
