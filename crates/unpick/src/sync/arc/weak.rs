//! `Weak`, as in [`std::sync`].

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering;

use super::counts::Counts;
use super::{Arc, Inner, inner_of, release};
use crate::here;

/// A pointer to a shared value that does not keep it, as [`std::sync::Weak`].
///
/// Inside a check, [`upgrade`](Weak::upgrade) competes with the drop of the last [`Arc`]: both
/// orders are tried.
///
/// ```
/// use unpick::sync::{Arc, Weak};
///
/// let arc = Arc::new(5);
/// let weak: Weak<i32> = Arc::downgrade(&arc);
/// assert_eq!(weak.upgrade().as_deref(), Some(&5));
/// drop(arc);
/// assert_eq!(weak.upgrade(), None);
/// ```
pub struct Weak<T: ?Sized> {
    inner: NonNull<Inner<T>>,
}

// SAFETY: as for `Arc`.
unsafe impl<T: ?Sized + Sync + Send> Send for Weak<T> {}
// SAFETY: as for `Arc`.
unsafe impl<T: ?Sized + Sync + Send> Sync for Weak<T> {}

/// The address of weak pointers that never had a value.
const NOWHERE: usize = usize::MAX;

impl<T> Weak<T> {
    /// A weak pointer to nothing.
    #[must_use]
    pub const fn new() -> Weak<T> {
        let nowhere = ptr::without_provenance_mut(NOWHERE);
        // SAFETY: the address is not 0.
        Weak { inner: unsafe { NonNull::new_unchecked(nowhere) } }
    }
}

impl<T: ?Sized> Weak<T> {
    /// A pointer to the value, which may be gone.
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        let inner = self.inner.as_ptr();
        if self.counts().is_none() {
            // As good as any for a value that never was.
            return inner as *const T;
        }
        // SAFETY: the memory is there for as long as the pointer is.
        unsafe { &raw const (*inner).value }
    }

    /// A pointer to the value, to be given back to [`from_raw`](Weak::from_raw).
    #[must_use = "losing the pointer will leak memory"]
    pub fn into_raw(self) -> *const T {
        ManuallyDrop::new(self).as_ptr()
    }

    /// The weak pointer that [`into_raw`](Weak::into_raw) has turned into a plain one.
    ///
    /// # Safety
    ///
    /// As for [`std::sync::Weak::from_raw`].
    pub unsafe fn from_raw(ptr: *const T) -> Weak<T> {
        if ptr.addr() == NOWHERE {
            return Weak::of(ptr as *mut Inner<T>);
        }
        // SAFETY: the caller promises that the memory is there and one of ours.
        Weak::of(unsafe { inner_of(ptr) })
    }

    /// A pointer that keeps the value, if it is still there.
    #[track_caller]
    #[must_use]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let counts = self.counts()?;
        counts.increment_if_any(here!()).then(|| Arc::of(self.inner.as_ptr()))
    }

    /// How many pointers there are to the value, weak ones not counted.
    #[track_caller]
    #[must_use]
    pub fn strong_count(&self) -> usize {
        self.counts().map_or(0, |counts| counts.strong(here!()))
    }

    /// How many weak pointers there are to the value; 0 if it is gone.
    #[track_caller]
    #[must_use]
    pub fn weak_count(&self) -> usize {
        let site = here!();
        let Some(counts) = self.counts() else { return 0 };
        let weak = counts.weak(Ordering::Acquire, site);
        if counts.strong(site) == 0 { 0 } else { weak - 1 }
    }

    /// Whether both point to the same value, or to nothing.
    #[must_use]
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        ptr::addr_eq(self.inner.as_ptr(), other.inner.as_ptr())
    }

    /// A weak pointer that has been counted.
    pub(super) fn of(inner: *mut Inner<T>) -> Weak<T> {
        Weak { inner: NonNull::new(inner).expect("a shared value is never at address 0") }
    }

    fn counts(&self) -> Option<&Counts> {
        let inner = self.inner.as_ptr();
        // SAFETY: the counts are there for as long as the pointer is, unless it is to nothing.
        (inner.cast::<()>().addr() != NOWHERE).then(|| unsafe { &(*inner).counts })
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Weak<T> {
        if let Some(counts) = self.counts() {
            counts.increment_weak(here!());
        }
        Weak { inner: self.inner }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Weak<T> {
        Weak::new()
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    fn drop(&mut self) {
        if let Some(site) = self.counts().map(Counts::site) {
            // SAFETY: the pointer was counted and goes away.
            unsafe { release(self.inner.as_ptr(), site) };
        }
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
