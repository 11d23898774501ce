//! violated: panic
//!
//! Another thread waits in a loop that sleeps; who joins it takes that to be quick.

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
        let other = thread::spawn(move || {
            while !theirs.load(Acquire) {
                thread::park_timeout(Duration::from_millis(2));
            }
        });
        flag.store(true, Release);
        other.thread().unpark();
        other.join().unwrap();
        assert!(start.elapsed() < Duration::from_secs(1));
    }
}
