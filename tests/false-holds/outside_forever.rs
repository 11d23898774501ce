//! violated: livelock
//!
//! A loop counts once in memory from `unpick::outside`, which lies elsewhere in each run, and waits for a value that nobody stores. The
//! livelock must be told, and for that found again.

use std::sync::atomic::AtomicUsize as StdUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicUsize;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let value = Arc::new(AtomicUsize::new(0));
        let theirs = value.clone();
        let other = thread::spawn(move || theirs.store(1, Release));
        let seen = unpick::outside(|| Box::new(StdUsize::new(0)));
        while value.load(Acquire) != 2 {
            if seen.load(Relaxed) < 1 {
                seen.store(1, Relaxed);
            }
        }
        other.join().unwrap();
    }
}
