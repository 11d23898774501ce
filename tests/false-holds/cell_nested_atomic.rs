//! violated: data race
//!
//! A cell holds an atomic, which both threads may change, and a plain number, which they may not.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicU32, Ordering};
use unpick::thread;

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

impl Shared<(AtomicU32, u32)> {
    fn count(&self) {
        // SAFETY: there are references only.
        unsafe { (*self.0.get()).0.fetch_add(1, Ordering::Relaxed) };
    }

    fn add(&self) {
        // SAFETY: the caller is the only one to do so, or should be.
        unsafe { (*self.0.get()).1 += 1 };
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let both = Arc::new(Shared(UnsafeCell::new((AtomicU32::new(0), 0))));
        let theirs = both.clone();
        let other = thread::spawn(move || {
            theirs.count();
            theirs.add();
        });
        both.count();
        both.add();
        both.count();
        other.join().unwrap();
    }
}
