//! `Arc`, as in [`std::sync`].

mod convert;
mod counts;
mod traits;
mod weak;

use std::alloc::{Layout, handle_alloc_error};
use std::any::Any;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::Deref;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering;

use unpick_core::op::Site;
use unpick_runtime::owned;

use self::counts::Counts;
use crate::here;

pub use self::weak::Weak;

/// A shared value with its counts, for [`coerce!`](crate::coerce).
#[doc(hidden)]
#[repr(C)]
#[derive(Debug)]
pub struct Inner<T: ?Sized> {
    counts: Counts,
    value: T,
}

/// A value with several owners, as [`std::sync::Arc`].
///
/// Inside a check, cloning and dropping cost nothing and multiply nothing, as long as nobody can
/// tell: what the value does when it is dropped is not visible, and nobody looks at the counts. If
/// somebody can, the check starts again, and counting becomes part of the program for values of
/// that type: every order of drops is tried, [`Weak::upgrade`] meets the last drop in either order,
/// [`get_mut`](Arc::get_mut) and [`strong_count`](Arc::strong_count) see what the memory model lets
/// them see. Memory orders are those of `std`: a drop releases, and the last one acquires.
///
/// What only the standard library can have is missing: a pointer to a type does not turn by itself
/// into one to a trait object or a slice, for which there is [`coerce!`](crate::coerce), methods
/// cannot take `self: Arc<Self>`, and patterns do not look through it.
///
/// ```
/// use unpick::sync::atomic::{AtomicUsize, Ordering};
/// use unpick::sync::Arc;
/// use unpick::thread;
///
/// unpick::check(|| {
///     let count = Arc::new(AtomicUsize::new(0));
///     let theirs = Arc::clone(&count);
///     let thread = thread::spawn(move || theirs.fetch_add(1, Ordering::Relaxed));
///     thread.join().unwrap();
///     assert_eq!(Arc::try_unwrap(count).unwrap().into_inner(), 1);
/// });
/// ```
pub struct Arc<T: ?Sized> {
    inner: NonNull<Inner<T>>,
    owns: PhantomData<Inner<T>>,
}

// SAFETY: as for `std::sync::Arc`: the counts are atomic, or used by one OS thread only.
unsafe impl<T: ?Sized + Sync + Send> Send for Arc<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync + Send> Sync for Arc<T> {}

/// Turns an [`Arc`](crate::sync::Arc) of a type into one of a trait object or of a slice.
///
/// `std`'s pointers do that by themselves; other types cannot, in stable Rust. The type that is
/// wanted must be known where the macro stands.
///
/// ```
/// use std::fmt::Display;
/// use unpick::sync::Arc;
///
/// let number = Arc::new(7);
/// let shown: Arc<dyn Display> = unpick::coerce!(number.clone());
/// assert_eq!(shown.to_string(), "7");
///
/// let list: Arc<[i32]> = unpick::coerce!(Arc::new([1, 2, 3]));
/// assert_eq!(list.len(), 3);
/// ```
#[macro_export]
macro_rules! coerce {
    ($arc:expr) => {{
        let inner = $crate::sync::Arc::into_inner_pointer($arc);
        // SAFETY: the pointer comes from an `Arc`, and is the same or has been made wider by the
        // compiler.
        unsafe { $crate::sync::Arc::from_inner_pointer(inner) }
    }};
}

impl<T> Arc<T> {
    /// A shared value.
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc::new_at(value, here!())
    }

    fn new_at(value: T, site: Site) -> Arc<T> {
        let inner = Inner { counts: Counts::new::<T>(1, site), value };
        Arc::of(Box::into_raw(owned(|| Box::new(inner))))
    }

    /// A shared value that may hold weak pointers to itself. They give nothing before it is made.
    ///
    /// ```
    /// use unpick::sync::{Arc, Weak};
    ///
    /// struct Node {
    ///     me: Weak<Node>,
    /// }
    ///
    /// let node = Arc::new_cyclic(|me| Node { me: me.clone() });
    /// assert!(Arc::ptr_eq(&node, &node.me.upgrade().unwrap()));
    /// ```
    #[track_caller]
    pub fn new_cyclic<F: FnOnce(&Weak<T>) -> T>(data_fn: F) -> Arc<T> {
        let inner: Inner<MaybeUninit<T>> =
            Inner { counts: Counts::new::<T>(0, here!()), value: MaybeUninit::uninit() };
        let inner = Box::into_raw(owned(|| Box::new(inner))).cast::<Inner<T>>();
        let weak = Weak::of(inner);
        let value = data_fn(&weak);
        // SAFETY: nobody can reach the value yet, since there is no strong pointer.
        unsafe { (&raw mut (*inner).value).write(value) };
        // The strong pointers own the weak one from now on.
        std::mem::forget(weak);
        let arc = Arc::of(inner);
        arc.counts().start();
        arc
    }

    /// A shared value that is still to be written.
    #[track_caller]
    pub fn new_uninit() -> Arc<MaybeUninit<T>> {
        Arc::new(MaybeUninit::uninit())
    }

    /// A shared value of zero bytes.
    #[track_caller]
    pub fn new_zeroed() -> Arc<MaybeUninit<T>> {
        Arc::new(MaybeUninit::zeroed())
    }

    /// A shared value that does not move.
    #[track_caller]
    pub fn pin(data: T) -> Pin<Arc<T>> {
        // SAFETY: a shared value does not move.
        unsafe { Pin::new_unchecked(Arc::new(data)) }
    }

    /// The value, if this is the only pointer to it that is not weak.
    ///
    /// # Errors
    ///
    /// With the pointer if it is not.
    #[track_caller]
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        let site = here!();
        if !this.counts().take_only(Ordering::Relaxed, site) {
            return Err(this);
        }
        let this = ManuallyDrop::new(this);
        // SAFETY: this was the only pointer, and it is not used again.
        Ok(unsafe { this.take(site) })
    }

    /// The value, if this is the last pointer to it that is not weak. Of several threads that call
    /// this, one gets the value.
    #[track_caller]
    pub fn into_inner(this: Arc<T>) -> Option<T> {
        let site = here!();
        let this = ManuallyDrop::new(this);
        // SAFETY: this was the last pointer, and it is not used again.
        this.counts().decrement_watched(site).then(|| unsafe { this.take(site) })
    }

    /// Moves the value out, and frees the memory unless there are weak pointers.
    unsafe fn take(&self, site: Site) -> T {
        // SAFETY: the caller has the only pointer, and gives it up.
        unsafe {
            let value = (&raw const (*self.inner.as_ptr()).value).read();
            release(self.inner.as_ptr(), site);
            value
        }
    }
}

impl<T> Arc<[T]> {
    /// A shared slice that is still to be written.
    #[track_caller]
    pub fn new_uninit_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        // SAFETY: nothing is written, and nothing has to be.
        unsafe { Arc::slice(len, here!(), |_| {}) }
    }

    /// A shared slice of zero bytes.
    #[track_caller]
    pub fn new_zeroed_slice(len: usize) -> Arc<[MaybeUninit<T>]> {
        // SAFETY: the place has room for the slice, and any bytes will do.
        unsafe { Arc::slice(len, here!(), |place: *mut MaybeUninit<T>| place.write_bytes(0, len)) }
    }

    /// A shared slice that `fill` writes.
    ///
    /// # Safety
    ///
    /// `fill` must write all of it.
    unsafe fn slice(len: usize, site: Site, fill: impl FnOnce(*mut T)) -> Arc<[T]> {
        let Ok(layout) = Layout::array::<T>(len) else { panic!("capacity overflow") };
        let block = allocate(layout);
        let inner = ptr::slice_from_raw_parts_mut(block.cast::<T>(), len) as *mut Inner<[T]>;
        // SAFETY: the block has room for the counts and the slice.
        unsafe {
            (&raw mut (*inner).counts).write(Counts::new::<[T]>(1, site));
            fill((&raw mut (*inner).value).cast::<T>());
        }
        Arc::of(inner)
    }
}

impl<T> Arc<MaybeUninit<T>> {
    /// The same pointer, to a value that has been written.
    ///
    /// # Safety
    ///
    /// It must have been.
    pub unsafe fn assume_init(self) -> Arc<T> {
        Arc::of(ManuallyDrop::new(self).inner.as_ptr().cast())
    }
}

impl<T> Arc<[MaybeUninit<T>]> {
    /// The same pointer, to a slice that has been written.
    ///
    /// # Safety
    ///
    /// It must have been.
    pub unsafe fn assume_init(self) -> Arc<[T]> {
        Arc::of(ManuallyDrop::new(self).inner.as_ptr() as *mut Inner<[T]>)
    }
}

impl<T: ?Sized> Arc<T> {
    /// A pointer to the value, to be given back to [`from_raw`](Arc::from_raw).
    #[must_use = "losing the pointer will leak memory"]
    pub fn into_raw(this: Arc<T>) -> *const T {
        Arc::as_ptr(&ManuallyDrop::new(this))
    }

    /// A pointer to the value.
    #[must_use]
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        // SAFETY: the value is there for as long as the pointer is.
        unsafe { &raw const (*this.inner.as_ptr()).value }
    }

    /// The shared pointer that [`into_raw`](Arc::into_raw) has turned into a plain one.
    ///
    /// # Safety
    ///
    /// As for [`std::sync::Arc::from_raw`].
    pub unsafe fn from_raw(ptr: *const T) -> Arc<T> {
        // SAFETY: the caller promises that the value is one of ours.
        Arc::of(unsafe { inner_of(ptr) })
    }

    /// Counts one more pointer to a value.
    ///
    /// # Safety
    ///
    /// As for [`std::sync::Arc::increment_strong_count`].
    #[track_caller]
    pub unsafe fn increment_strong_count(ptr: *const T) {
        // SAFETY: the caller promises that there is a pointer, which is not taken away here.
        let arc = unsafe { ManuallyDrop::new(Arc::from_raw(ptr)) };
        arc.counts().increment(here!());
    }

    /// Takes one pointer to a value off, and drops the value if it was the last.
    ///
    /// # Safety
    ///
    /// As for [`std::sync::Arc::decrement_strong_count`].
    pub unsafe fn decrement_strong_count(ptr: *const T) {
        // SAFETY: as the caller promises.
        drop(unsafe { Arc::from_raw(ptr) });
    }

    /// A weak pointer to the value.
    #[track_caller]
    #[must_use]
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        this.counts().downgrade(here!());
        Weak::of(this.inner.as_ptr())
    }

    /// How many pointers there are to the value, weak ones not counted. Others may change that at
    /// any time, and the count may be an old one.
    #[track_caller]
    #[must_use]
    pub fn strong_count(this: &Arc<T>) -> usize {
        this.counts().strong(here!())
    }

    /// How many weak pointers there are to the value. Others may change that at any time, and the
    /// count may be an old one.
    #[track_caller]
    #[must_use]
    pub fn weak_count(this: &Arc<T>) -> usize {
        this.counts().weak(Ordering::Relaxed, here!()) - 1
    }

    /// Whether both point to the same value.
    #[must_use]
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        ptr::addr_eq(this.inner.as_ptr(), other.inner.as_ptr())
    }

    /// The value, to change, if there is no other pointer to it, weak or not.
    ///
    /// ```
    /// use unpick::sync::Arc;
    ///
    /// let mut number = Arc::new(1);
    /// *Arc::get_mut(&mut number).unwrap() = 2;
    /// let other = number.clone();
    /// assert!(Arc::get_mut(&mut number).is_none());
    /// # drop(other);
    /// ```
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        let unique = this.counts().is_unique(here!());
        // SAFETY: nobody else has a pointer to the value.
        unique.then(|| unsafe { this.value_mut() })
    }

    /// The value, to change.
    ///
    /// # Safety
    ///
    /// Nobody else may use the value meanwhile.
    unsafe fn value_mut(&mut self) -> &mut T {
        // SAFETY: as the caller promises.
        unsafe { &mut (*self.inner.as_ptr()).value }
    }

    /// A pointer to the counts and the value, for [`coerce!`](crate::coerce).
    #[doc(hidden)]
    pub fn into_inner_pointer(this: Arc<T>) -> *mut Inner<T> {
        ManuallyDrop::new(this).inner.as_ptr()
    }

    /// The reverse of [`Arc::into_inner_pointer`].
    ///
    /// # Safety
    ///
    /// The pointer must come from there, and must not be used again.
    #[doc(hidden)]
    pub unsafe fn from_inner_pointer(inner: *mut Inner<T>) -> Arc<T> {
        Arc::of(inner)
    }

    /// The pointer to a value that has been counted.
    fn of(inner: *mut Inner<T>) -> Arc<T> {
        let inner = NonNull::new(inner).expect("a shared value is never at address 0");
        Arc { inner, owns: PhantomData }
    }

    fn counts(&self) -> &Counts {
        // SAFETY: the counts are there for as long as the pointer is.
        unsafe { &(*self.inner.as_ptr()).counts }
    }
}

impl<T: ?Sized + Renew> Arc<T> {
    /// The value, to change. If there are other pointers to it, this one gets a clone; if they are
    /// weak, they lose the value.
    ///
    /// ```
    /// use unpick::sync::Arc;
    ///
    /// let mut number = Arc::new(1);
    /// let other = number.clone();
    /// *Arc::make_mut(&mut number) = 2;
    /// assert_eq!((*number, *other), (2, 1));
    /// ```
    #[track_caller]
    pub fn make_mut(this: &mut Arc<T>) -> &mut T {
        let site = here!();
        if !this.counts().take_only(Ordering::Acquire, site) {
            *this = T::renewed(this, site);
        } else if this.counts().weak(Ordering::Relaxed, site) != 1 {
            let old = this.inner.as_ptr();
            // SAFETY: this was the only strong pointer; it is replaced without being dropped, and gives
            // up the weak pointer that it had.
            unsafe {
                ptr::write(this, T::moved(&raw const (*old).value, site));
                release(old, site);
            }
        } else {
            this.counts().give_back(site);
        }
        // SAFETY: there is no other pointer now.
        unsafe { this.value_mut() }
    }
}

/// What [`Arc::make_mut`] can put into memory of its own.
#[doc(hidden)]
pub trait Renew {
    /// A new shared value, cloned of this one.
    fn renewed(&self, site: Site) -> Arc<Self>;

    /// A new shared value, moved from here.
    ///
    /// # Safety
    ///
    /// The old value must not be used again.
    unsafe fn moved(value: *const Self, site: Site) -> Arc<Self>;
}

impl<T: Clone> Renew for T {
    fn renewed(&self, site: Site) -> Arc<T> {
        Arc::new_at(self.clone(), site)
    }

    unsafe fn moved(value: *const T, site: Site) -> Arc<T> {
        // SAFETY: as the caller promises.
        Arc::new_at(unsafe { value.read() }, site)
    }
}

impl<T: Clone> Renew for [T] {
    fn renewed(&self, site: Site) -> Arc<[T]> {
        let mut values = self.to_vec();
        // SAFETY: the clones are moved, and the vector forgets them.
        unsafe {
            let arc = Renew::moved(values.as_slice(), site);
            values.set_len(0);
            arc
        }
    }

    unsafe fn moved(values: *const [T], site: Site) -> Arc<[T]> {
        // SAFETY: all values are moved, and the caller promises that nobody uses the old ones again.
        unsafe {
            Arc::slice(values.len(), site, |place: *mut T| {
                place.copy_from_nonoverlapping(values.cast::<T>(), values.len());
            })
        }
    }
}

impl Renew for str {
    fn renewed(&self, _: Site) -> Arc<str> {
        Arc::from(self)
    }

    unsafe fn moved(text: *const str, _: Site) -> Arc<str> {
        // SAFETY: the text is still there, and needs no drop.
        Arc::from(unsafe { &*text })
    }
}

impl<T: Clone> Arc<T> {
    /// The value, or a clone of it if there are other pointers.
    #[track_caller]
    pub fn unwrap_or_clone(this: Arc<T>) -> T {
        Arc::try_unwrap(this).unwrap_or_else(|arc| (*arc).clone())
    }
}

impl Arc<dyn Any + Send + Sync> {
    /// The same pointer, to a value of this type.
    ///
    /// # Errors
    ///
    /// With the pointer as it was, if the value is of another type.
    pub fn downcast<T: Any + Send + Sync>(self) -> Result<Arc<T>, Arc<dyn Any + Send + Sync>> {
        if !(*self).is::<T>() {
            return Err(self);
        }
        Ok(Arc::of(Arc::into_inner_pointer(self).cast::<Inner<T>>()))
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the value is there for as long as the pointer is, and shared.
        unsafe { &(*self.inner.as_ptr()).value }
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    #[inline]
    fn clone(&self) -> Arc<T> {
        self.counts().increment(here!());
        Arc { inner: self.inner, owns: PhantomData }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        let site = self.counts().site();
        if !self.counts().decrement(site) {
            return;
        }
        // The memory is freed even if dropping the value panics.
        let freed = Weak::of(self.inner.as_ptr());
        if std::mem::needs_drop::<T>() {
            // SAFETY: this was the last pointer to the value.
            self.counts().drop_value(|| unsafe { ptr::drop_in_place(&raw mut (*self.inner.as_ptr()).value) });
        }
        drop(freed);
    }
}

/// Memory for counts and a value of this layout.
fn allocate(value: Layout) -> *mut u8 {
    let Ok((layout, _)) = Layout::new::<Counts>().extend(value) else { panic!("capacity overflow") };
    let layout = layout.pad_to_align();
    // SAFETY: the counts alone make the size other than 0.
    let block = owned(|| unsafe { std::alloc::alloc(layout) });
    if block.is_null() {
        handle_alloc_error(layout);
    }
    block
}

/// Gives up a weak pointer, and frees the memory if it was the last.
///
/// # Safety
///
/// The pointer is one that was counted, and it is not used again. The value is gone if it is the last.
unsafe fn release<T: ?Sized>(inner: *mut Inner<T>, site: Site) {
    // SAFETY: the counts are there until the last pointer has gone, and the size of a value does not
    // depend on its contents.
    unsafe {
        let counts = &raw const (*inner).counts;
        if (*counts).decrement_weak(site) {
            let layout = Layout::for_value(&*inner);
            unpick_runtime::ordered(|| std::alloc::dealloc(inner.cast(), layout));
        }
    }
}

/// The counts and the value, from a pointer to the value.
///
/// # Safety
///
/// The pointer must be to a value that is shared.
unsafe fn inner_of<T: ?Sized>(value: *const T) -> *mut Inner<T> {
    // SAFETY: the caller promises a value, whose alignment does not depend on its contents, with
    // counts before it.
    unsafe {
        let align = align_of_val(&*value);
        let offset = Layout::new::<Counts>().size().next_multiple_of(align);
        value.byte_sub(offset) as *mut Inner<T>
    }
}
