//! Shared values that are made of others.

use std::alloc::Layout;
use std::borrow::{Cow, ToOwned};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use unpick_core::op::Site;

use super::counts::Counts;
use super::{Arc, Inner, allocate};
use crate::here;

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Arc<T> {
        Arc::new(value)
    }
}

/// The way to a shared trait object, besides [`coerce!`](crate::coerce).
///
/// ```
/// use std::fmt::Display;
/// use unpick::sync::Arc;
///
/// let shown: Arc<dyn Display> = Arc::from(Box::new(7) as Box<dyn Display>);
/// assert_eq!(shown.to_string(), "7");
/// ```
impl<T: ?Sized> From<Box<T>> for Arc<T> {
    #[track_caller]
    fn from(value: Box<T>) -> Arc<T> {
        let source = Box::into_raw(value);
        // SAFETY: the value moves out of its box, which is freed without it.
        unsafe {
            let arc = move_from(source, here!());
            drop(Box::from_raw(source as *mut ManuallyDrop<T>));
            arc
        }
    }
}

impl<T: ?Sized> Arc<T> {
    /// The value of a shared pointer of the standard library, which must be the only one: another way
    /// to a shared trait object, for code that was written for loom.
    ///
    /// # Panics
    ///
    /// When there are other pointers to the value.
    #[doc(hidden)]
    #[track_caller]
    pub fn from_std(std: std::sync::Arc<T>) -> Arc<T> {
        let mut std = std;
        let unique = std::sync::Arc::get_mut(&mut std).is_some();
        assert!(unique, "`Arc::from_std` needs the only pointer to the value, and there are others");
        let source = std::sync::Arc::into_raw(std);
        // SAFETY: nobody else has the value, which moves; its memory is freed without it.
        unsafe {
            let arc = move_from(source, here!());
            drop(std::sync::Arc::from_raw(source as *const ManuallyDrop<T>));
            arc
        }
    }
}

/// Moves a value into shared memory.
///
/// # Safety
///
/// The old value must not be used again.
unsafe fn move_from<T: ?Sized>(source: *const T, site: Site) -> Arc<T> {
    // SAFETY: a pointer begins with its address; what tells the size stays as it is. The block has room
    // for the counts and the value, which the caller gives up.
    unsafe {
        let layout = Layout::for_value(&*source);
        let block = allocate(layout);
        let mut inner = source as *mut Inner<T>;
        (&raw mut inner).cast::<*mut u8>().write(block);
        (&raw mut (*inner).counts).write(Counts::new::<T>(1, site));
        let target = (&raw mut (*inner).value).cast::<u8>();
        target.copy_from_nonoverlapping(source.cast::<u8>(), layout.size());
        Arc::of(inner)
    }
}

impl<T> From<Vec<T>> for Arc<[T]> {
    #[track_caller]
    fn from(values: Vec<T>) -> Arc<[T]> {
        let mut values = values;
        let len = values.len();
        // SAFETY: all values move into the slice, and the vector forgets them.
        unsafe {
            let arc = Arc::slice(len, here!(), |place: *mut T| {
                place.copy_from_nonoverlapping(values.as_ptr(), len);
            });
            values.set_len(0);
            arc
        }
    }
}

impl<T: Clone> From<&[T]> for Arc<[T]> {
    #[track_caller]
    fn from(values: &[T]) -> Arc<[T]> {
        Arc::from(values.to_vec())
    }
}

impl<T: Clone> From<&mut [T]> for Arc<[T]> {
    #[track_caller]
    fn from(values: &mut [T]) -> Arc<[T]> {
        Arc::from(values.to_vec())
    }
}

impl<T, const N: usize> From<[T; N]> for Arc<[T]> {
    #[track_caller]
    fn from(values: [T; N]) -> Arc<[T]> {
        crate::coerce!(Arc::new(values))
    }
}

impl<T, const N: usize> TryFrom<Arc<[T]>> for Arc<[T; N]> {
    type Error = Arc<[T]>;

    fn try_from(slice: Arc<[T]>) -> Result<Arc<[T; N]>, Arc<[T]>> {
        if slice.len() != N {
            return Err(slice);
        }
        Ok(Arc::of(Arc::into_inner_pointer(slice).cast::<Inner<[T; N]>>()))
    }
}

impl<T> FromIterator<T> for Arc<[T]> {
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Arc<[T]> {
        Arc::from(values.into_iter().collect::<Vec<T>>())
    }
}

impl From<Arc<str>> for Arc<[u8]> {
    fn from(text: Arc<str>) -> Arc<[u8]> {
        Arc::of(Arc::into_inner_pointer(text) as *mut Inner<[u8]>)
    }
}

impl From<&str> for Arc<str> {
    #[track_caller]
    fn from(text: &str) -> Arc<str> {
        Arc::from(Box::<str>::from(text))
    }
}

impl From<&mut str> for Arc<str> {
    #[track_caller]
    fn from(text: &mut str) -> Arc<str> {
        Arc::from(&*text)
    }
}

impl From<String> for Arc<str> {
    #[track_caller]
    fn from(text: String) -> Arc<str> {
        Arc::from(&*text)
    }
}

/// Strings of the system, borrowed and owned.
macro_rules! text {
    ($($borrowed:ty, $owned:ty;)*) => {
        $(
            impl From<&$borrowed> for Arc<$borrowed> {
                #[track_caller]
                fn from(text: &$borrowed) -> Arc<$borrowed> {
                    Arc::from(Box::<$borrowed>::from(text))
                }
            }

            impl From<&mut $borrowed> for Arc<$borrowed> {
                #[track_caller]
                fn from(text: &mut $borrowed) -> Arc<$borrowed> {
                    Arc::from(&*text)
                }
            }

            impl From<$owned> for Arc<$borrowed> {
                #[track_caller]
                fn from(text: $owned) -> Arc<$borrowed> {
                    Arc::from(Box::<$borrowed>::from(text))
                }
            }
        )*
    };
}

text! {
    CStr, CString;
    OsStr, OsString;
    Path, PathBuf;
}

impl<'a, B> From<Cow<'a, B>> for Arc<B>
where
    B: ToOwned + ?Sized,
    Arc<B>: From<&'a B> + From<B::Owned>,
{
    #[track_caller]
    fn from(value: Cow<'a, B>) -> Arc<B> {
        match value {
            Cow::Borrowed(value) => Arc::from(value),
            Cow::Owned(value) => Arc::from(value),
        }
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl Default for Arc<str> {
    #[track_caller]
    fn default() -> Arc<str> {
        Arc::from("")
    }
}

impl Default for Arc<CStr> {
    #[track_caller]
    fn default() -> Arc<CStr> {
        Arc::from(c"")
    }
}

impl<T> Default for Arc<[T]> {
    #[track_caller]
    fn default() -> Arc<[T]> {
        Arc::from([])
    }
}

impl<T: ?Sized> Default for Pin<Arc<T>>
where
    Arc<T>: Default,
{
    #[track_caller]
    fn default() -> Pin<Arc<T>> {
        // SAFETY: a shared value does not move.
        unsafe { Pin::new_unchecked(Arc::default()) }
    }
}
