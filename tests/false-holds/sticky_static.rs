//! violated: panic
//!
//! The first round in vain sets a flag in a static of `std`. Every further round leaves it as it is, so these may be dropped, and
//! the first may not.

use std::sync::atomic::AtomicBool as StdBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

static SEEN: StdBool = StdBool::new(false);

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        SEEN.store(false, Relaxed);
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            SEEN.store(true, Relaxed);
        }
        assert!(!SEEN.load(Relaxed));
        other.join().unwrap();
    }
}
