//! violated: use after free
//!
//! A thread frees a lock that it has taken, while others may try to take that one after another lock, and give that back if they fail.

use unpick::sync::atomic::{AtomicPtr, Ordering::Acquire, Ordering::Release};
use unpick::sync::{Arc, Mutex};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new((Mutex::new(0), Mutex::new(0), AtomicPtr::new(Box::into_raw(Box::new(Mutex::new(0))))));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            for _ in 0..2 {
                let _first = theirs.0.lock().unwrap();
                let lock = theirs.2.load(Acquire);
                if lock.is_null() {
                    break;
                }
                // SAFETY: it is not safe: that is what the program is for.
                if unsafe { &*lock }.try_lock().is_ok() {
                    break;
                }
                drop(_first);
                let _second = theirs.1.lock().unwrap();
            }
        });
        let lock = shared.2.load(Acquire);
        // SAFETY: as above.
        std::mem::forget(unsafe { &*lock }.lock().unwrap());
        shared.2.store(std::ptr::null_mut(), Release);
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(lock) });
        other.join().unwrap();
    }
}
