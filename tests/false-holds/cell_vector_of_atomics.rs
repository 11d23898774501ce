//! violated: data race
//!
//! A cell holds a vector of atomics, which threads change, and one thread lets it grow meanwhile.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicUsize, Ordering};
use unpick::thread;

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

impl Shared<Vec<AtomicUsize>> {
    fn grow(&self) {
        // SAFETY: nobody else uses the vector, or should.
        unsafe { (*self.0.get()).push(AtomicUsize::new(0)) };
    }

    fn count(&self, index: usize) -> usize {
        // SAFETY: the vector does not grow.
        unsafe { (&(*self.0.get()))[index].fetch_add(1, Ordering::Relaxed) }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let counts = Arc::new(Shared(UnsafeCell::new(Vec::with_capacity(8))));
        counts.grow();
        counts.grow();
        let theirs = counts.clone();
        let other = thread::spawn(move || {
            theirs.count(0);
            theirs.grow();
        });
        counts.count(0);
        counts.grow();
        other.join().unwrap();
        assert_eq!(counts.count(0), 2);
    }
}
