//! violated: panic
//!
//! Each round takes a lock, looks, and counts in a static that the lock guards. The fourth fails.

use unpick::sync::{Arc, Mutex};
use unpick::thread;

static mut TRIES: usize = 0;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        // SAFETY: no other thread runs yet.
        unsafe { TRIES = 0 };
        let lock = Arc::new(Mutex::new(false));
        let theirs = lock.clone();
        let other = thread::spawn(move || *theirs.lock().unwrap() = true);
        loop {
            let ready = lock.lock().unwrap();
            if *ready {
                break;
            }
            // SAFETY: who counts holds the lock.
            unsafe {
                assert!(TRIES != 3);
                TRIES += 1;
            }
        }
        other.join().unwrap();
    }
}
