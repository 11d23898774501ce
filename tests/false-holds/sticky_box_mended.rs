//! holds
//!
//! As `sticky_box`, and asks for nothing of the flag in a box.

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
        let seen = black_box(Box::new(Cell::new(false)));
        while !flag.load(Acquire) {
            seen.set(true);
        }
        assert!(!seen.get() || flag.load(Acquire));
        other.join().unwrap();
    }
}
