//! A cell with raw access, and the guards that stand for pointers into it.
//!
//! That accesses are ordered by happens-before is the engine's to see: at the beginning of each, whenever a
//! pointer is used, and at its end. An access ends before the last operation of its thread, as with loom, where others
//! cannot come between that and the end: a guard lets go of the cell by an operation, and drops its pointer
//! afterwards. What is left are two that are ordered but overlap, as when one thread lets another in while it holds
//! a pointer; those are counted here, in every execution alike.

use std::cell::Cell;
use std::panic::Location;
use std::ptr;

use unpick_core::op::Site;
use unpick_runtime::ops::{self, Object, Since};
use unpick_runtime::{Tag, site, untracked};

/// A cell that threads may share as long as they do not use it at the same time.
///
/// An access lasts as long as the closure of [`with`](UnsafeCell::with) or
/// [`with_mut`](UnsafeCell::with_mut), or until the pointer that [`get`](UnsafeCell::get) or
/// [`get_mut`](UnsafeCell::get_mut) returned is dropped. Two accesses that are not ordered by happens-before,
/// one of them mutable, are a data race; two that are ordered but overlap are a panic.
#[derive(Debug)]
pub struct UnsafeCell<T: ?Sized> {
    /// The accesses of closures that go on.
    closures: Uses,
    /// The accesses of pointers that go on, in memory that stays when the cell moves; null at first.
    pointers: Pointers,
    tag: Tag,
    value: std::cell::UnsafeCell<T>,
}

/// Accesses that go on: so many that read, or -1 for one that writes.
#[derive(Debug)]
struct Uses(Cell<isize>);

#[derive(Debug)]
struct Pointers(Cell<*const Uses>);

// SAFETY: inside a check all threads run on one OS thread; outside, nothing is counted.
unsafe impl Send for Pointers {}

impl Uses {
    #[track_caller]
    fn admit(&self, writes: bool) {
        assert!(self.0.get() >= 0, "an UnsafeCell is used while it is being written to");
        assert!(!writes || self.0.get() == 0, "an UnsafeCell is written to while it is being read");
    }

    fn begin(&self, writes: bool) {
        self.0.set(if writes { -1 } else { self.0.get() + 1 });
    }

    fn end(&self, writes: bool) {
        self.0.set(if writes { 0 } else { self.0.get() - 1 });
    }
}

impl<T> UnsafeCell<T> {
    /// A cell with a value.
    pub fn new(data: T) -> UnsafeCell<T> {
        UnsafeCell {
            closures: Uses(Cell::new(0)),
            pointers: Pointers(Cell::new(ptr::null())),
            tag: Tag::new(),
            value: std::cell::UnsafeCell::new(data),
        }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads the cell: `f` may look at the value and must not change it.
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.during(false, || f(self.value.get()))
    }

    /// Writes the cell: `f` may change the value.
    #[track_caller]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.during(true, || f(self.value.get()))
    }

    /// A pointer through which the value may be read, for as long as the pointer is kept.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        ConstPtr { access: self.begin(false), pointer: self.value.get() }
    }

    /// A pointer through which the value may be changed, for as long as the pointer is kept.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        MutPtr { access: self.begin(true), pointer: self.value.get() }
    }

    /// Not inlined: what the runtime leaves in registers would be part of the state of a loop around it.
    #[track_caller]
    #[inline(never)]
    fn during<R>(&self, writes: bool, f: impl FnOnce() -> R) -> R {
        if !ops::in_check() {
            return f();
        }
        let since = Since::default();
        let site = begin(&self.closures, &self.pointers, self.object(), writes, &since);
        let during = During { uses: &self.closures, writes };
        let result = f();
        drop(during);
        end(self.object(), writes, site, &since);
        result
    }

    #[track_caller]
    fn begin(&self, writes: bool) -> Option<PointerAccess> {
        if !ops::in_check() {
            return None;
        }
        let site = site::site(Location::caller());
        admit(&self.closures, &self.pointers, writes);
        ops::access(self.object(), writes, site);
        if self.pointers.0.get().is_null() {
            self.pointers.0.set(untracked(|| Box::into_raw(Box::new(Uses(Cell::new(0))))));
        }
        let uses = self.pointers.0.get();
        // SAFETY: what is untracked stays until the execution is over.
        unsafe { (*uses).begin(writes) };
        // SAFETY: a tag is two plain numbers.
        let tag = unsafe { ptr::read(&self.tag) };
        let access = PointerAccess { uses, tag, writes, site, touched: Since::default() };
        access.touched.begin();
        Some(access)
    }

    fn object(&self) -> Object<'_> {
        let contents = (self.value.get().cast::<u8>(), size_of_val(&self.value));
        Object { tag: &self.tag, kind: "UnsafeCell", contents }
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}

/// Makes sure that an access to a cell does not overlap with another one.
#[track_caller]
fn admit(closures: &Uses, pointers: &Pointers, writes: bool) {
    closures.admit(writes);
    // SAFETY: what is untracked stays until the execution is over.
    if let Some(pointers) = unsafe { pointers.0.get().as_ref() } {
        pointers.admit(writes);
    }
}

/// Begins the access of a closure; where that is.
#[track_caller]
fn begin(closures: &Uses, pointers: &Pointers, object: Object<'_>, writes: bool, since: &Since) -> Site {
    let site = site::site(Location::caller());
    admit(closures, pointers, writes);
    ops::access(object, writes, site);
    closures.begin(writes);
    since.begin();
    site
}

/// Ends it. The closure may have synchronised.
fn end(object: Object<'_>, writes: bool, site: Site, since: &Since) {
    if since.end() {
        ops::end_access(object, writes, site);
    }
}

/// The access of a closure, which goes on until this is dropped.
struct During<'a> {
    uses: &'a Uses,
    writes: bool,
}

impl Drop for During<'_> {
    fn drop(&mut self) {
        self.uses.end(self.writes);
    }
}

/// The access of a pointer. It outlives the cell if the pointer does, so it refers to nothing in it.
#[derive(Debug)]
struct PointerAccess {
    uses: *const Uses,
    tag: Tag,
    writes: bool,
    site: Site,
    /// Since when the pointer was not used.
    touched: Since,
}

impl PointerAccess {
    /// The pointer is used.
    #[track_caller]
    fn touch(&self) {
        if !ops::in_check() || !self.touched.is_past() {
            return;
        }
        self.touched.begin();
        let site = site::site(Location::caller());
        ops::access(Object::new(&self.tag, "UnsafeCell"), self.writes, site);
    }
}

impl Drop for PointerAccess {
    fn drop(&mut self) {
        if !ops::in_check() {
            return;
        }
        // SAFETY: what is untracked stays until the execution is over.
        unsafe { (*self.uses).end(self.writes) };
        // A thread that panics has something else to tell.
        if self.touched.end() && !unpick::thread::panicking() {
            ops::end_access(Object::new(&self.tag, "UnsafeCell"), self.writes, self.site);
        }
    }
}

/// A pointer through which the value of a cell may be read. The access ends when this is dropped.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized> {
    access: Option<PointerAccess>,
    pointer: *const T,
}

impl<T: ?Sized> ConstPtr<T> {
    /// The value.
    ///
    /// # Safety
    ///
    /// Nobody may change the value while the reference is used, and the cell must be where it was.
    #[track_caller]
    pub unsafe fn deref(&self) -> &T {
        if let Some(access) = &self.access {
            access.touch();
        }
        // SAFETY: as the caller promises.
        unsafe { &*self.pointer }
    }

    /// Uses the pointer.
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        if let Some(access) = &self.access {
            access.touch();
        }
        f(self.pointer)
    }
}

/// A pointer through which the value of a cell may be changed. The access ends when this is dropped.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized> {
    access: Option<PointerAccess>,
    pointer: *mut T,
}

impl<T: ?Sized> MutPtr<T> {
    /// The value, to change.
    ///
    /// # Safety
    ///
    /// Nobody else may use the value while the reference is used, and the cell must be where it was.
    #[allow(clippy::mut_from_ref, reason = "it stands for a pointer")]
    #[track_caller]
    pub unsafe fn deref(&self) -> &mut T {
        if let Some(access) = &self.access {
            access.touch();
        }
        // SAFETY: as the caller promises.
        unsafe { &mut *self.pointer }
    }

    /// Uses the pointer.
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        if let Some(access) = &self.access {
            access.touch();
        }
        f(self.pointer)
    }
}
