//! Static values that are made on first use: the macro [`lazy_static!`](macro@crate::lazy_static).

use std::fmt;

use unpick::sync::LazyLock;

pub use crate::thread::{AccessError, panicking, yield_now};

/// A static value that is made on first use, and new in each execution.
///
/// One thread makes it while the others wait, as with the crate `lazy_static`; and it is never destroyed.
pub struct Lazy<T: 'static> {
    value: LazyLock<T>,
}

// SAFETY: as with loom, whatever the value is. Threads under test run one at a time, on one OS thread, and each execution has a value of its own.
// Outside a model nothing keeps OS threads from sharing it: there a value must be one that they may share.
unsafe impl<T: 'static> Sync for Lazy<T> {}

impl<T: 'static> Lazy<T> {
    /// For [`lazy_static!`](macro@crate::lazy_static).
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Lazy<T> {
        Lazy { value: LazyLock::new(init) }
    }

    /// The value.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        LazyLock::force(&self.value)
    }
}

impl<T: 'static> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}

/// Declares static values that are made on first use, as the crate `lazy_static` does.
///
/// ```
/// # use unpick_loom as loom;
/// use loom::sync::Mutex;
///
/// loom::lazy_static! {
///     static ref NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// }
///
/// loom::model(|| {
///     NAMES.lock().unwrap().push(String::from("one"));
///     assert_eq!(1, NAMES.lock().unwrap().len());
/// });
/// ```
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attribute:meta])* $vis:vis static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        $(#[$attribute])*
        #[allow(missing_copy_implementations, missing_debug_implementations, non_camel_case_types, dead_code)]
        $vis struct $name {
            nothing: (),
        }
        #[doc(hidden)]
        #[allow(dead_code)]
        $vis static $name: $name = $name { nothing: () };
        impl ::core::ops::Deref for $name {
            type Target = $type;

            #[track_caller]
            fn deref(&self) -> &$type {
                fn initial() -> $type {
                    $init
                }
                static LAZY: $crate::lazy_static::Lazy<$type> = $crate::lazy_static::Lazy::new(initial);
                LAZY.get()
            }
        }
        $crate::lazy_static!($($rest)*);
    };
}
