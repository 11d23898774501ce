//! holds
//!
//! As `tries_static_mut`; the count in a `static mut` ends at 3, and from then on a round changes nothing.

use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

static mut TRIES: usize = 0;

/// One more; how many there were.
fn count() -> usize {
    // SAFETY: only one thread counts.
    unsafe {
        TRIES += 1;
        TRIES - 1
    }
}

/// How many there were.
fn counted() -> usize {
    // SAFETY: only one thread counts.
    unsafe { TRIES }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        // SAFETY: only this thread counts.
        unsafe { TRIES = 0 };
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            if counted() < 3 {
                count();
            }
        }
        assert!(counted() <= 3);
        other.join().unwrap();
    }
}
