//! holds
//!
//! As `sticky_static`, and asks for nothing of the flag in a static of `std`.

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
        assert!(!SEEN.load(Relaxed) || flag.load(Acquire));
        other.join().unwrap();
    }
}
