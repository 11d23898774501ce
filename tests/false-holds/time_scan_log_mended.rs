//! holds
//!
//! A loop in which each round that takes long is told once a second, until the flag is set.

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
        let (start, mut told) = (Instant::now(), false);
        while !flag.load(Acquire) {
            if !told && start.elapsed() > Duration::from_secs(1) {
                told = true;
            }
            thread::yield_now();
        }
        let _ = told;
        other.join().unwrap();
    }
}
