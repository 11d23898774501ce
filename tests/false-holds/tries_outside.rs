//! violated: panic
//!
//! A loop counts its rounds in memory from `unpick::outside`, and fails in the fourth.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let tries = unpick::outside(|| Box::new(AtomicUsize::new(0)));
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            if tries.fetch_add(1, Relaxed) == 3 {
                panic!("too many tries");
            }
        }
        other.join().unwrap();
    }
}
