//! violated: data race
//!
//! A write by `with_mut` and one through a pointer have no order.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::thread;

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let cell = Arc::new(Shared(UnsafeCell::new(0i64)));
        let theirs = cell.clone();
        let spawned = thread::spawn(move || {
            // SAFETY: it is not.
            unsafe { *theirs.0.get() = -7 };
        });
        // SAFETY: as above.
        cell.0.with_mut(|value| unsafe { *value += 1 });
        spawned.join().unwrap();
    }
}
