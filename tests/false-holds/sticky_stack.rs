//! violated: panic
//!
//! The first round in vain sets a flag on the stack. Every further round leaves it as it is, so these may be dropped, and
//! the first may not.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        let seen = Cell::new(false);
        black_box(&seen);
        while !flag.load(Acquire) {
            seen.set(true);
        }
        assert!(!seen.get());
        other.join().unwrap();
    }
}
