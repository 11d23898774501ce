//! violated: panic
//!
//! A thread unwinds with a payload that it has made, as runtimes do that cancel tasks, in the middle of a change.

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
        assert_eq!(lock.read().map(|value| *value).unwrap(), 1);
    }
}
