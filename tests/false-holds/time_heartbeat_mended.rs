//! holds
//!
//! A watchdog waits for a sign of life for a minute, and then asks whether the thread has ended.

use std::time::Duration;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicUsize, Ordering::*};
use unpick::thread;
use unpick::time::Instant;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let beats = Arc::new(AtomicUsize::new(0));
        let theirs = beats.clone();
        let other = thread::spawn(move || {
            theirs.fetch_add(1, Release);
            theirs.fetch_add(1, Release);
        });
        let mut last = Instant::now();
        let mut seen = 0;
        let mut dead = false;
        while seen < 2 && !dead {
            let now = beats.load(Acquire);
            if now != seen {
                (seen, last) = (now, Instant::now());
            } else if last.elapsed() > Duration::from_secs(60) {
                dead = true;
            }
        }
        other.join().unwrap();
        assert!(dead || beats.load(Relaxed) == 2);
    }
}
