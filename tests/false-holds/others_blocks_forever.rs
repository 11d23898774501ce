//! violated: livelock
//!
//! The second thread waits for a number that the first one overwrites. In some schedules the first one allocates or frees a block
//! between two rounds of the second. That is no state of the second thread: its rounds are the same, and the schedule
//! of the livelock can be followed.

use std::hint::black_box;

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use unpick::sync::{Arc, Mutex};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let lock = Arc::new(Mutex::new(0));
        let overwrites = thread::spawn({
            let shared = shared.clone();
            move || {
                let block = black_box(Box::new(0));
                let elsewhere = unpick::outside(|| Box::new(0));
                while shared[0].load(Acquire) != 2 {}
                shared[1].store(*block + *elsewhere, Relaxed);
            }
        });
        let waits = thread::spawn({
            let shared = shared.clone();
            move || while shared[1].load(Acquire) != 1 {}
        });
        let lets_go = thread::spawn({
            let shared = shared.clone();
            move || {
                *lock.lock().unwrap() = 3;
                shared[0].store(2, Release);
                shared[1].store(1, Relaxed);
            }
        });
        overwrites.join().unwrap();
        waits.join().unwrap();
        lets_go.join().unwrap();
    }
}
