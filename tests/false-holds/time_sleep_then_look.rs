//! violated: panic
//!
//! A loop sleeps until a flag is set; how long that took is looked at afterwards, and taken to be short.

use std::time::Duration;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::thread;
use unpick::time::Instant;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let start = Instant::now();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(start.elapsed() < Duration::from_secs(5));
        other.join().unwrap();
    }
}
