//! holds
//!
//! As it should be: the second thread is spawned by the first, after its write.

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
        // SAFETY: there is no other thread.
        cell.0.with_mut(|value| unsafe { *value += 1 });
        let spawned = thread::spawn(move || {
            // SAFETY: nobody else uses the cell.
            unsafe { *theirs.0.get() = -7 };
        });
        spawned.join().unwrap();
    }
}
