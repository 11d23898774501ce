//! violated: panic
//!
//! A flag is polled every millisecond for ten seconds, and then taken to be set.

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
        let mut late = false;
        while !flag.load(Acquire) {
            if start.elapsed() > Duration::from_secs(10) {
                late = true;
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!late);
        other.join().unwrap();
    }
}
