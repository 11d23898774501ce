//! violated: data race
//!
//! The lock is given back by a relaxed store, so that nothing orders the two writes.

use unpick::cell::UnsafeCell;
use unpick::hint;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering};
use unpick::thread;

struct Lock {
    taken: AtomicBool,
    count: UnsafeCell<u64>,
}

// SAFETY: the count is used by who has the lock.
unsafe impl Sync for Lock {}
// SAFETY: as above.
unsafe impl Send for Lock {}

impl Lock {
    fn add(&self) {
        while self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            hint::spin_loop();
        }
        // SAFETY: the lock is taken.
        unsafe { *self.count.get() += 1 };
        self.taken.store(false, Ordering::Relaxed);
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let lock = Arc::new(Lock { taken: AtomicBool::new(false), count: UnsafeCell::new(0) });
        let theirs = lock.clone();
        let other = thread::spawn(move || theirs.add());
        lock.add();
        other.join().unwrap();
    }
}
