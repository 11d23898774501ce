//! holds
//!
//! As it should be: each thread changes its own byte.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::thread;

#[derive(Default)]
struct Pair {
    left: u8,
    right: u8,
}

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let pair = Arc::new(Shared(UnsafeCell::new(Pair::default())));
        let theirs = pair.clone();
        // SAFETY: it is not, if both use the same field.
        let other = thread::spawn(move || unsafe { (*theirs.0.get()).left = 1 });
        // SAFETY: as above.
        unsafe { (*pair.0.get()).right = 2 };
        other.join().unwrap();
        // SAFETY: the other thread has ended.
        assert!(unsafe { (*pair.0.get()).left + (*pair.0.get()).right } > 0);
    }
}
