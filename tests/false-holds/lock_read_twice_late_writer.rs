//! violated: deadlock
//!
//! The writer waits for a flag that is set between the two reads.

use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::sync::{Arc, RwLock};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let (lock, half) = (Arc::new(RwLock::new(1)), Arc::new(AtomicBool::new(false)));
        let (theirs, begins) = (Arc::clone(&lock), Arc::clone(&half));
        let writer = thread::spawn(move || {
            while !begins.load(Acquire) {
                thread::yield_now();
            }
            *theirs.write().unwrap() += 1;
        });
        let first = lock.read().unwrap();
        half.store(true, Release);
        let second = lock.read().unwrap();
        assert_eq!(*first + *second, 2);
        drop((first, second));
        writer.join().unwrap();
    }
}
