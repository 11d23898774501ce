//! violated: panic
//!
//! The first round in vain sets a flag in a `static mut`. Every further round leaves it as it is, so these may be dropped, and
//! the first may not.

use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

static mut SEEN: bool = false;

fn seen() -> bool {
    // SAFETY: only one thread uses the flag.
    unsafe { SEEN }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        // SAFETY: only this thread uses the flag.
        unsafe { SEEN = false };
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            // SAFETY: only this thread uses the flag.
            unsafe { SEEN = true };
        }
        assert!(!seen());
        other.join().unwrap();
    }
}
