//! holds
//!
//! As it should be: there are fences on both sides.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering, fence};
use unpick::thread;

struct Baton {
    passed: AtomicBool,
    laps: UnsafeCell<usize>,
}

// SAFETY: who has the baton counts.
unsafe impl Sync for Baton {}
// SAFETY: as above.
unsafe impl Send for Baton {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let baton = Arc::new(Baton { passed: AtomicBool::new(false), laps: UnsafeCell::new(0) });
        let theirs = baton.clone();
        let other = thread::spawn(move || {
            // SAFETY: the baton is here.
            unsafe { *theirs.laps.get() += 1 };
            fence(Ordering::Release);
            theirs.passed.store(true, Ordering::Relaxed);
        });
        if baton.passed.load(Ordering::Relaxed) {
            fence(Ordering::Acquire);
            // SAFETY: the baton was passed.
            unsafe { *baton.laps.get() += 1 };
        }
        other.join().unwrap();
    }
}
