//! holds
//!
//! Each round looks in a place where panics are caught.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !catch_unwind(AssertUnwindSafe(|| flag.load(Acquire))).unwrap_or(false) {
            thread::yield_now();
        }
        other.join().unwrap();
    }
}
