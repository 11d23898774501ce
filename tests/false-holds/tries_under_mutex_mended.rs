//! holds
//!
//! As `tries_under_mutex`; the count ends at 3, and from then on a round changes nothing.

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
                if TRIES < 3 {
                    TRIES += 1;
                }
            }
        }
        other.join().unwrap();
    }
}
