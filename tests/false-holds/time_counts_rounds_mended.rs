//! holds
//!
//! Rounds are counted in an atomic, and the loop ends after a second.

use std::time::Duration;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use unpick::thread;
use unpick::time::Instant;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let (flag, rounds) = (Arc::new(AtomicBool::new(false)), AtomicUsize::new(0));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        let start = Instant::now();
        let mut late = false;
        while !flag.load(Acquire) && !late {
            rounds.fetch_add(1, Relaxed);
            late = start.elapsed() > Duration::from_secs(1);
        }
        assert!(!late || rounds.load(Relaxed) > 0);
        other.join().unwrap();
    }
}
