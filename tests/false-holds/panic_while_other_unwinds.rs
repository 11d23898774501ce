//! violated: panic
//!
//! A thread unwinds and waits in a destructor for another one, which panics itself and poisons a lock.

use std::panic::{AssertUnwindSafe, catch_unwind};

use unpick::sync::{Arc, Mutex};
use unpick::thread::{self, JoinHandle};

/// Joins a thread when it is dropped.
struct Joins(Option<JoinHandle<()>>);

impl Drop for Joins {
    fn drop(&mut self) {
        let _ = self.0.take().map(JoinHandle::join);
        assert!(thread::panicking());
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let lock = Arc::new(Mutex::new(()));
        let theirs = lock.clone();
        let other = thread::spawn(move || {
            assert!(!thread::panicking());
            let _guard = theirs.lock().unwrap();
            panic!("with the lock");
        });
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let _joins = Joins(Some(other));
            panic!("waits in a destructor");
        }));
        assert!(unwound.is_err() && !thread::panicking());
        drop(lock.lock().unwrap());
    }
}
