//! violated: panic
//!
//! Pauses between attempts grow; after a second without luck there is a default, which is forgotten.

use std::time::Duration;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicUsize, Ordering::*};
use unpick::thread;
use unpick::time::Instant;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let value = Arc::new(AtomicUsize::new(0));
        let theirs = value.clone();
        let other = thread::spawn(move || theirs.store(5, Release));
        let (start, mut pause) = (Instant::now(), Duration::from_millis(1));
        let found = loop {
            match value.load(Acquire) {
                0 if start.elapsed() > Duration::from_secs(1) => break 0,
                0 => thread::sleep(pause),
                found => break found,
            }
            pause *= 2;
        };
        assert_eq!(found, 5);
        other.join().unwrap();
    }
}
