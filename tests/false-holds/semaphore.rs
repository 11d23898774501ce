//! holds
//!
//! Each round takes a semaphore down, looks, and brings it up again.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, AtomicUsize};
use unpick::thread;

/// A semaphore that spins.
struct Semaphore(AtomicUsize);

impl Semaphore {
    fn down(&self) {
        loop {
            let free = self.0.load(Acquire);
            if free > 0 && self.0.compare_exchange(free, free - 1, Acquire, Relaxed).is_ok() {
                return;
            }
        }
    }

    fn up(&self) {
        self.0.fetch_add(1, Release);
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new((Semaphore(AtomicUsize::new(1)), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.0.down();
            theirs.1.store(true, Relaxed);
            theirs.0.up();
        });
        loop {
            shared.0.down();
            let is_ready = shared.1.load(Relaxed);
            shared.0.up();
            if is_ready {
                break;
            }
        }
        other.join().unwrap();
    }
}
