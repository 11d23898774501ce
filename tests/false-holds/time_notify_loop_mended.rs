//! holds
//!
//! One thread notifies until the other has answered; the other waits with a limit.

use std::time::Duration;

use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::sync::{Arc, Condvar, Mutex};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new((Mutex::new(false), Condvar::new(), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            *theirs.0.lock().unwrap() = true;
            while !theirs.2.load(Acquire) {
                theirs.1.notify_one();
                thread::yield_now();
            }
        });
        let mut ready = shared.0.lock().unwrap();
        while !*ready {
            let (guard, result) = shared.1.wait_timeout(ready, Duration::from_millis(5)).unwrap();
            ready = guard;
            let _ = result;
        }
        drop(ready);
        shared.2.store(true, Release);
        other.join().unwrap();
    }
}
