//! holds
//!
//! The deadline is computed before the loop, which yields.

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
        let deadline = Instant::now() + Duration::from_secs(5);
        let mut done = false;
        while Instant::now() < deadline {
            if flag.load(Acquire) {
                done = true;
                break;
            }
            thread::yield_now();
        }
        if !done {
            other.join().unwrap();
            assert!(flag.load(Relaxed));
            return;
        }
        other.join().unwrap();
    }
}
