//! holds
//!
//! A loop around a wait with a limit.

use std::time::Duration;

use unpick::sync::{Arc, Condvar, Mutex};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = pair.clone();
        let other = thread::spawn(move || {
            *theirs.0.lock().unwrap() = true;
            theirs.1.notify_one();
        });
        let mut ready = pair.0.lock().unwrap();
        while !*ready {
            let (guard, result) = pair.1.wait_timeout(ready, Duration::from_millis(5)).unwrap();
            ready = guard;
            let _ = result.timed_out();
        }
        drop(ready);
        other.join().unwrap();
    }
}
