//! holds
//!
//! The writer begins when both reads are over, which a flag says.

use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::sync::{Arc, RwLock};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let (lock, done) = (Arc::new(RwLock::new(1)), Arc::new(AtomicBool::new(false)));
        let (theirs, over) = (Arc::clone(&lock), Arc::clone(&done));
        let writer = thread::spawn(move || {
            while !over.load(Acquire) {
                thread::yield_now();
            }
            *theirs.write().unwrap() += 1;
        });
        let first = lock.read().unwrap();
        let second = lock.read().unwrap();
        assert_eq!(*first + *second, 2);
        drop((first, second));
        done.store(true, Release);
        writer.join().unwrap();
    }
}
