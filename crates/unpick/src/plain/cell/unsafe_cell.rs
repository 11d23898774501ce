//! `UnsafeCell` without checks.

/// A cell that threads may share as long as they do not use it at the same time:
/// [`std::cell::UnsafeCell`] with the calls that checks can see.
///
/// ```
/// use unpick::cell::UnsafeCell;
///
/// let cell = UnsafeCell::new(1);
/// cell.with_mut(|value| unsafe { *value += 1 });
/// assert_eq!(cell.with(|value| unsafe { *value }), 2);
/// ```
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// A cell with a value.
    #[inline(always)]
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    /// The value.
    #[inline(always)]
    pub const fn into_inner(self) -> T {
        let this = std::mem::MaybeUninit::new(self);
        // SAFETY: the cell is there, and is not used again; it is its value and nothing else.
        unsafe { this.as_ptr().cast::<T>().read() }
    }

    /// A pointer to the value of a cell of which there is only a pointer.
    #[inline(always)]
    pub const fn raw_get(this: *const UnsafeCell<T>) -> *mut T {
        this.cast_mut().cast()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Reads the cell: `f` may look at the value and must not change it.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Writes the cell: `f` may change the value.
    #[inline(always)]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }

    /// A pointer to the value.
    #[inline(always)]
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }

    /// The value, which nobody else can use meanwhile.
    #[inline(always)]
    pub const fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}
