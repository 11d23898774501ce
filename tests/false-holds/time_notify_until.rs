//! violated: panic
//!
//! Two loops, one that notifies and one that waits with a limit, until a third thread stops them; it is taken to be notified at least once.

use std::time::Duration;

use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::sync::{Arc, Condvar, Mutex};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
        let theirs = shared.clone();
        let notifies = thread::spawn(move || {
            while !theirs.2.load(Acquire) {
                theirs.1.notify_one();
            }
        });
        let theirs = shared.clone();
        let waits = thread::spawn(move || {
            let mut woken = false;
            while !theirs.2.load(Acquire) {
                let guard = theirs.0.lock().unwrap();
                woken |= !theirs.1.wait_timeout(guard, Duration::from_millis(5)).unwrap().1.timed_out();
            }
            woken
        });
        shared.2.store(true, Release);
        notifies.join().unwrap();
        let woken = waits.join().unwrap();
        assert!(woken);
    }
}
