//! holds
//!
//! Each round takes a lock, looks and unlocks, and does not yield.

use unpick::sync::{Arc, Mutex};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let lock = Arc::new(Mutex::new(false));
        let theirs = lock.clone();
        let other = thread::spawn(move || *theirs.lock().unwrap() = true);
        while !*lock.lock().unwrap() {}
        other.join().unwrap();
    }
}
