//! violated: panic
//!
//! Each round frees a box and has another one in its place. The first three change what is in it, and the further ones do
//! not; but where it lies differs in each.

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
        let mut last = Box::new(0);
        while !flag.load(Acquire) {
            last = black_box(Box::new((*last + 1).min(3)));
        }
        assert!(*last < 3);
        other.join().unwrap();
    }
}
