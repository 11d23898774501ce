//! Cells, as in [`std::cell`], whose accesses are checked for data races.
//!
//! [`RefCell`], [`OnceCell`] and [`LazyCell`] are those of `std`: they are not `Sync`, and a program
//! that shares one by an `unsafe impl Sync` is not seen to do so. Build such wrappers on
//! [`UnsafeCell`] or [`Cell`].

mod value;

use std::mem::{MaybeUninit, offset_of};

use unpick_core::op::Site;
use unpick_runtime::Tag;
use unpick_runtime::ops::{self, Object, Since};

use crate::here;

pub use std::cell::{BorrowError, BorrowMutError, LazyCell, OnceCell, Ref, RefCell, RefMut};
pub use value::Cell;

/// A cell that threads may share as long as they do not use it at the same time.
///
/// Inside a check [`with`](UnsafeCell::with) is a read and [`with_mut`](UnsafeCell::with_mut) a
/// write of the whole cell; two of them that are not ordered by happens-before, one a write, are a
/// data race. What is done through the pointer that [`get`](UnsafeCell::get) makes is seen as far as
/// bytes of the cell change from one operation of a thread to the next: each such byte was
/// written, and is compared with earlier writes to it. Reads are not seen, nor is memory
/// behind the cell, such as the elements of a vector in it; the verdict says where that is so.
///
/// ```
/// use unpick::cell::UnsafeCell;
///
/// let cell = UnsafeCell::new(1);
/// cell.with_mut(|value| unsafe { *value += 1 });
/// assert_eq!(cell.with(|value| unsafe { *value }), 2);
/// ```
#[derive(Debug, Default)]
pub struct UnsafeCell<T: ?Sized> {
    tag: Tag,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// A cell with a value.
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell { tag: Tag::new(), value: std::cell::UnsafeCell::new(value) }
    }

    /// The value.
    pub const fn into_inner(self) -> T {
        let this = MaybeUninit::new(self);
        // SAFETY: the cell is there, and is not used again.
        unsafe { (&raw const (*this.as_ptr()).value).read().into_inner() }
    }

    /// A pointer to the value of a cell of which there is only a pointer. Uses of it are seen as
    /// those of [`get`](UnsafeCell::get) are.
    ///
    /// `std`'s takes cells of unsized values as well.
    #[track_caller]
    pub fn raw_get(this: *const UnsafeCell<T>) -> *mut T {
        let value = this.wrapping_byte_add(offset_of!(UnsafeCell<T>, value)).cast_mut().cast::<T>();
        if ops::in_check() {
            // SAFETY: a tag is two numbers, whatever is in memory; the pointer is to a cell, or is not one that can be used.
            let tag = unsafe { &*this.wrapping_byte_add(offset_of!(UnsafeCell<T>, tag)).cast::<Tag>() };
            ops::lend(Object { tag, kind: "UnsafeCell", contents: (value.cast(), size_of::<T>()) }, here!());
        }
        value
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads the cell: `f` may look at the value and must not change it.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        self.during(false, || f(self.value.get()))
    }

    /// Writes the cell: `f` may change the value.
    #[track_caller]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        self.during(true, || f(self.value.get()))
    }

    /// A pointer to the value. Writes through it are seen by the bytes that they change, reads are not.
    #[track_caller]
    pub fn get(&self) -> *mut T {
        if ops::in_check() {
            ops::lend(self.object(), here!());
        }
        self.value.get()
    }

    /// The value, which nobody else can use meanwhile.
    #[track_caller]
    pub fn get_mut(&mut self) -> &mut T {
        if ops::in_check() {
            ops::reclaim(self.object(), here!());
        }
        self.touch(true, here!());
        self.value.get_mut()
    }

    #[track_caller]
    fn during<R>(&self, writes: bool, f: impl FnOnce() -> R) -> R {
        if !ops::in_check() {
            return f();
        }
        let site = here!();
        self.touch(writes, site);
        let since = Since::default();
        since.begin();
        let result = f();
        // The access goes on until `f` is done, and `f` may have synchronised.
        if since.end() {
            self.touch(writes, site);
        }
        result
    }

    fn touch(&self, writes: bool, site: Site) {
        if ops::in_check() {
            ops::access(self.object(), writes, site);
        }
    }

    fn object(&self) -> Object<'_> {
        let contents = (self.value.get().cast::<u8>(), size_of_val(&self.value));
        Object { tag: &self.tag, kind: "UnsafeCell", contents }
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}
