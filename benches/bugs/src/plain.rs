//! A plain variable that threads share.

use unpick::cell::UnsafeCell;

/// A plain variable: two accesses that are not ordered, one a write, are a data race.
pub(crate) struct Plain<T>(UnsafeCell<T>);

// SAFETY: the threads of a checked program take turns on one thread of the machine, so accesses never
// overlap; that the program would be wrong elsewhere is what the check finds. The programs of this
// crate run inside checks only.
unsafe impl<T: Send> Sync for Plain<T> {}

impl<T: Copy> Plain<T> {
    pub(crate) const fn new(value: T) -> Plain<T> {
        Plain(UnsafeCell::new(value))
    }

    #[track_caller]
    pub(crate) fn get(&self) -> T {
        // SAFETY: the pointer is that of the cell, and nobody writes meanwhile: see above.
        self.0.with(|value| unsafe { *value })
    }

    #[track_caller]
    pub(crate) fn set(&self, new: T) {
        // SAFETY: the pointer is that of the cell, and nobody else uses it meanwhile: see above.
        self.0.with_mut(|value| unsafe { *value = new });
    }
}
