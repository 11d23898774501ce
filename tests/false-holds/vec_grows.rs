//! violated: panic
//!
//! Each round has a text of its own, which it drops, and a vector that it leaves longer than it was.

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
        let mut seen = Vec::new();
        while !flag.load(Acquire) {
            seen.push(black_box(format!("{}", black_box(1))).len());
        }
        assert!(seen.len() < 6);
        other.join().unwrap();
    }
}
