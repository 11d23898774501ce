//! holds
//!
//! A thread unwinds with a payload that it has made, in the middle of a change, and the next one sees that the lock is poisoned.

use std::panic::resume_unwind;

use unpick::sync::{Arc, RwLock};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let lock = Arc::new(RwLock::new(1));
        let theirs = lock.clone();
        // No hook is called, and no panic has begun anywhere.
        let other = thread::spawn(move || {
            let mut guard = theirs.write().unwrap();
            *guard = 0;
            resume_unwind(Box::new("cancelled"));
        });
        assert!(other.join().is_err());
        assert!(lock.read().is_err() && lock.is_poisoned());
    }
}
