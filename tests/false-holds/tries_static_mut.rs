//! violated: panic
//!
//! A loop counts its rounds in a `static mut`, and fails in the fourth.

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

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        // SAFETY: only this thread counts.
        unsafe { TRIES = 0 };
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            if count() == 3 {
                panic!("too many tries");
            }
        }
        other.join().unwrap();
    }
}
