//! holds
//!
//! As it should be: only the last one that lets go of it writes, in a destructor.

use std::sync::Arc;

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::{AtomicUsize, Ordering};
use unpick::thread;

struct Log {
    used: AtomicUsize,
    sum: UnsafeCell<usize>,
}

// SAFETY: only the destructor writes, or should.
unsafe impl Sync for Log {}
// SAFETY: as above.
unsafe impl Send for Log {}

impl Log {
    fn note(&self, number: usize) {
        // SAFETY: the caller says that nobody else does it.
        unsafe { *self.sum.get() += number };
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.note(1 + self.used.load(Ordering::Relaxed));
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let log = Arc::new(Log { used: AtomicUsize::new(0), sum: UnsafeCell::new(0) });
        let theirs = log.clone();
        thread::spawn(move || {
            theirs.used.fetch_add(1, Ordering::Relaxed);
            theirs.note(10);
            theirs.used.fetch_add(1, Ordering::Relaxed);
        });
        log.used.fetch_add(1, Ordering::Relaxed);
    }
}
