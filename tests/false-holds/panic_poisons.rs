//! violated: panic
//!
//! A thread goes on with the panic of another while it holds a lock, which poisons the lock as a panic of its own would.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use unpick::sync::{Arc, Mutex};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let other = thread::spawn(move || drop(theirs.lock().unwrap()));
        let payload = thread::spawn(|| panic!("elsewhere")).join().unwrap_err();
        let again = catch_unwind(AssertUnwindSafe(|| {
            let mut guard = lock.lock().unwrap();
            *guard += 1;
            resume_unwind(payload);
        }));
        assert!(again.is_err());
        other.join().unwrap();
    }
}
