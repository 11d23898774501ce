//! holds
//!
//! A thread spins until a value is there, but not for longer than ten milliseconds.

use std::time::Duration;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicUsize, Ordering::*};
use unpick::thread;
use unpick::time::Instant;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let value = Arc::new(AtomicUsize::new(0));
        let theirs = value.clone();
        let other = thread::spawn(move || theirs.store(42, Release));
        let start = Instant::now();
        while value.load(Acquire) == 0 {
            if start.elapsed() > Duration::from_millis(10) {
                break;
            }
        }
        let found = value.load(Acquire);
        assert!(found == 42 || found == 0);
        other.join().unwrap();
    }
}
