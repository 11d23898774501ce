//! Statics that are made when they are first used, as in the `lazy_static` crate.
//!
//! Each execution makes its own. Threads that come at the same time wait for the first. Values are not
//! dropped, as those of `lazy_static` are not; Shuttle drops them when an execution ends.

use std::fmt;

use unpick::sync::LazyLock;

pub use crate::lazy_static;

/// A value that is made when it is first asked for, once in each execution.
pub struct Lazy<T: Sync>(LazyLock<T, fn() -> T>);

impl<T: Sync> Lazy<T> {
    /// A value that is not there yet.
    pub const fn new(init: fn() -> T) -> Lazy<T> {
        Lazy(LazyLock::new(init))
    }

    /// The value, which is made if this is the first time.
    pub fn get(&'static self) -> &'static T {
        &self.0
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
