//! holds
//!
//! As `sticky_stack`, and asks for nothing of the flag on the stack.

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
        assert!(!seen.get() || flag.load(Acquire));
        other.join().unwrap();
    }
}
