//! holds
//!
//! Each round tries a lock, looks, and unlocks.

use unpick::sync::{Arc, Mutex};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let lock = Arc::new(Mutex::new(false));
        let theirs = lock.clone();
        let other = thread::spawn(move || *theirs.lock().unwrap() = true);
        loop {
            if let Ok(ready) = lock.try_lock()
                && *ready
            {
                break;
            }
        }
        other.join().unwrap();
    }
}
