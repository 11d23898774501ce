//! holds
//!
//! A thread spins for a millisecond, then waits for a condition, and gives up after a minute if it still spins.

use std::time::Duration;

use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::sync::{Arc, Condvar, Mutex};
use unpick::thread;
use unpick::time::Instant;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.0.store(true, SeqCst);
            let guard = theirs.1.lock().unwrap();
            drop(guard);
            theirs.2.notify_one();
        });
        let start = Instant::now();
        let (flag, lock, condition) = (&shared.0, &shared.1, &shared.2);
        while !flag.load(SeqCst) {
            let spent = start.elapsed();
            if spent > Duration::from_secs(60) {
                break;
            }
            if spent > Duration::from_millis(1) {
                let guard = lock.lock().unwrap();
                drop(condition.wait_while(guard, |()| !flag.load(SeqCst)).unwrap());
                break;
            }
        }
        other.join().unwrap();
    }
}
