//! violated: panic
//!
//! A flag is polled ten times, a millisecond apart, and then taken to be set.

use std::time::Duration;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::thread;
use unpick::time::Instant;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        let start = Instant::now();
        while !flag.load(Acquire) && start.elapsed() < Duration::from_millis(10) {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(flag.load(Acquire));
        other.join().unwrap();
    }
}
