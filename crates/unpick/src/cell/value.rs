//! A cell whose value is moved in and out.

use std::cmp::Ordering;
use std::fmt;
use std::mem::MaybeUninit;

use unpick_runtime::Tag;
use unpick_runtime::ops::{self, Object};

use crate::here;

/// A cell whose value is moved in and out, as [`std::cell::Cell`].
///
/// Inside a check [`get`](Cell::get) is a read of the cell, and everything that changes the value is a
/// write. As in `std` a `Cell` is not [`Sync`], so threads share one only by way of an
/// `unsafe impl Sync`; two accesses that are not ordered by happens-before, one a write, are then a
/// data race. What is done through [`as_ptr`](Cell::as_ptr) is seen as after
/// [`UnsafeCell::get`](super::UnsafeCell::get). There is no `from_mut` and no `as_slice_of_cells`,
/// since a cell keeps more than its value.
///
/// ```
/// use unpick::cell::Cell;
///
/// let cell = Cell::new(1);
/// cell.set(cell.get() + 1);
/// assert_eq!(cell.replace(5), 2);
/// assert_eq!(cell.take(), 5);
/// ```
#[derive(Default)]
pub struct Cell<T: ?Sized> {
    tag: Tag,
    value: std::cell::Cell<T>,
}

impl<T> Cell<T> {
    /// A cell with a value.
    pub const fn new(value: T) -> Cell<T> {
        Cell { tag: Tag::new(), value: std::cell::Cell::new(value) }
    }

    /// Changes the value.
    #[track_caller]
    pub fn set(&self, value: T) {
        self.touch(true);
        self.value.set(value);
    }

    /// The value; another takes its place.
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        self.touch(true);
        self.value.replace(value)
    }

    /// Exchanges the values of two cells.
    #[track_caller]
    pub fn swap(&self, other: &Cell<T>) {
        self.touch(true);
        other.touch(true);
        self.value.swap(&other.value);
    }

    /// The value; a default one takes its place.
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.touch(true);
        self.value.take()
    }

    /// A copy of the value.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        self.touch(false);
        self.value.get()
    }

    /// Changes the value to what `f` makes of it.
    #[track_caller]
    pub fn update(&self, f: impl FnOnce(T) -> T)
    where
        T: Copy,
    {
        self.set(f(self.get()));
    }

    /// The value.
    pub const fn into_inner(self) -> T {
        let this = MaybeUninit::new(self);
        // SAFETY: the cell is there, and is not used again.
        unsafe { (&raw const (*this.as_ptr()).value).read().into_inner() }
    }
}

impl<T: ?Sized> Cell<T> {
    /// A pointer to the value. Writes through it are seen by the bytes that they change, reads are not.
    #[track_caller]
    pub fn as_ptr(&self) -> *mut T {
        if ops::in_check() {
            ops::lend(self.object(), here!());
        }
        self.value.as_ptr()
    }

    /// The value, which nobody else can use meanwhile.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        if ops::in_check() {
            ops::reclaim(self.object(), here!());
        }
        self.touch(true);
        self.value.get_mut()
    }

    #[track_caller]
    fn touch(&self, writes: bool) {
        if ops::in_check() {
            ops::access(self.object(), writes, here!());
        }
    }

    fn object(&self) -> Object<'_> {
        let contents = (self.value.as_ptr().cast::<u8>(), size_of_val(&self.value));
        Object { tag: &self.tag, kind: "Cell", contents }
    }
}

impl<T> From<T> for Cell<T> {
    fn from(value: T) -> Cell<T> {
        Cell::new(value)
    }
}

impl<T: Copy> Clone for Cell<T> {
    #[track_caller]
    fn clone(&self) -> Cell<T> {
        Cell::new(self.get())
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

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").field("value", &self.get()).finish()
    }
}
