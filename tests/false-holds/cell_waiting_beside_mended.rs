//! holds
//!
//! As it should be: what it counts while it waits is its own.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering};
use unpick::thread;

struct Meters {
    done: AtomicBool,
    rounds: UnsafeCell<u8>,
    other: UnsafeCell<u8>,
}

// SAFETY: each has its own meter.
unsafe impl Sync for Meters {}
// SAFETY: as above.
unsafe impl Send for Meters {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let meters = Arc::new(Meters {
            done: AtomicBool::new(false),
            rounds: UnsafeCell::new(0),
            other: UnsafeCell::new(0),
        });
        let theirs = meters.clone();
        let waiter = thread::spawn(move || {
            while !theirs.done.load(Ordering::Acquire) {
                // SAFETY: this meter is ours.
                unsafe { *theirs.rounds.get() = 1 };
                thread::yield_now();
            }
        });
        meters.done.store(true, Ordering::Release);
        // SAFETY: the meter is ours, or should be.
        unsafe { *meters.other.get() += 2 };
        waiter.join().unwrap();
        // SAFETY: the waiter has ended.
        assert!(unsafe { *meters.other.get() + *meters.rounds.get() } > 0);
    }
}
