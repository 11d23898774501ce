//! violated: panic
//!
//! A loop counts its rounds in a static of `std`, and fails in the fourth.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

static TRIES: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        TRIES.store(0, Relaxed);
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            if TRIES.fetch_add(1, Relaxed) == 3 {
                panic!("too many tries");
            }
        }
        other.join().unwrap();
    }
}
