//! Statics that are made when they are first used, as in the `lazy_static` crate.
//!
//! Each execution makes its own, also of tests that run at the same time. Threads that come at the same time
//! wait for the first. Values are not dropped, as those of `lazy_static` are not; Shuttle drops them when an
//! execution ends.

use std::fmt;
use std::rc::Rc;
use std::sync::OnceLock;

use unpick::stand_in;
use unpick::sync::Once;

use crate::context;

pub use crate::lazy_static;

/// A value that is made when it is first asked for, once in each execution.
pub struct Lazy<T: Sync + 'static>(fn() -> T);

/// The value of one execution.
struct Made<T: 'static> {
    once: Once,
    value: OnceLock<&'static T>,
}

impl<T: Sync + 'static> Lazy<T> {
    /// A value that is not there yet.
    pub const fn new(init: fn() -> T) -> Lazy<T> {
        Lazy(init)
    }

    /// The value, which is made if this is the first time.
    ///
    /// # Panics
    ///
    /// Outside a check.
    #[track_caller]
    pub fn get(&'static self) -> &'static T {
        assert!(stand_in::in_check(), "statics of Shuttle are for code inside a check");
        let make = || Made { once: Once::new(), value: OnceLock::new() };
        let made: Rc<Made<T>> = context::kept(std::ptr::from_ref(self) as usize, make);
        made.once.call_once(|| {
            let value: &'static T = Box::leak(Box::new((self.0)()));
            made.value.get_or_init(|| value);
        });
        made.value.get().expect("the value was made, or the thread would not be here")
    }
}

impl<T: Sync> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy").finish_non_exhaustive()
    }
}

/// What [`lazy_static!`](crate::lazy_static!) declares.
pub trait LazyStatic {
    #[doc(hidden)]
    fn initialize(lazy: &Self);
}

/// Makes the value now, if it is not there yet.
pub fn initialize<T: LazyStatic>(lazy: &T) {
    LazyStatic::initialize(lazy);
}
