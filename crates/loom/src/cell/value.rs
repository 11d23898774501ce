//! A cell whose value is moved in and out.

use std::cmp::Ordering;

use super::UnsafeCell;

/// A cell whose value is moved in and out, as [`std::cell::Cell`].
///
/// Two accesses by different threads that are not ordered, one of which changes the value, are a data race.
#[derive(Debug)]
pub struct Cell<T> {
    cell: UnsafeCell<T>,
}

impl<T> Cell<T> {
    /// A cell with a value.
    pub fn new(value: T) -> Cell<T> {
        Cell { cell: UnsafeCell::new(value) }
    }

    /// Changes the value.
    #[track_caller]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// Exchanges the values of two cells.
    #[track_caller]
    pub fn swap(&self, other: &Cell<T>) {
        if std::ptr::eq(self, other) {
            return;
        }
        // SAFETY: the cells are two, and nobody uses them meanwhile: that would be a violation.
        self.cell.with_mut(|mine| other.cell.with_mut(|theirs| unsafe { std::ptr::swap(mine, theirs) }));
    }

    /// The value; another takes its place.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        // SAFETY: nobody uses the cell meanwhile.
        self.cell.with_mut(|place| unsafe { place.replace(value) })
    }

    /// A copy of the value.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        // SAFETY: nobody writes to the cell meanwhile.
        self.cell.with(|place| unsafe { *place })
    }

    /// The value; a default one takes its place.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.replace(T::default())
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.cell.into_inner()
    }
}

impl<T: Default> Default for Cell<T> {
    fn default() -> Cell<T> {
        Cell::new(T::default())
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Cell<T> {
        Cell::new(self.get())
    }
}

impl<T> From<T> for Cell<T> {
    fn from(value: T) -> Cell<T> {
        Cell::new(value)
    }
}

impl<T: Copy + PartialEq> PartialEq for Cell<T> {
    #[track_caller]
    fn eq(&self, other: &Cell<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Copy + Eq> Eq for Cell<T> {}

impl<T: Copy + PartialOrd> PartialOrd for Cell<T> {
    #[track_caller]
    fn partial_cmp(&self, other: &Cell<T>) -> Option<Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

impl<T: Copy + Ord> Ord for Cell<T> {
    #[track_caller]
    fn cmp(&self, other: &Cell<T>) -> Ordering {
        self.get().cmp(&other.get())
    }
}
