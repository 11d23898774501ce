//! holds
//!
//! A thread parks for ten milliseconds at most, and looks at the clock.

use std::time::Duration;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::thread;
use unpick::time::Instant;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = Arc::new(AtomicBool::new(false));
        let (theirs, main) = (flag.clone(), thread::current());
        let other = thread::spawn(move || {
            theirs.store(true, Release);
            main.unpark();
        });
        let start = Instant::now();
        while !flag.load(Acquire) {
            if start.elapsed() >= Duration::from_secs(1) {
                break;
            }
            thread::park_timeout(Duration::from_millis(10));
        }
        other.join().unwrap();
    }
}
