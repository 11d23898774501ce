//! holds
//!
//! As `tries_captured`; the count in an atomic of `std` that the closure has captured ends at 3, and from then on a round changes nothing.

use std::sync::Arc as StdArc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    let tries = StdArc::new(AtomicUsize::new(0));
    move || {
        tries.store(0, Relaxed);
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            if tries.load(Relaxed) < 3 {
                tries.fetch_add(1, Relaxed);
            }
        }
        assert!(tries.load(Relaxed) <= 3);
        other.join().unwrap();
    }
}
