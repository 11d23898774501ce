//! violated: panic
//!
//! Three attempts of a second each to get an answer; the fourth case is forgotten.

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
        let mut answer = None;
        'attempts: for attempt in 0..3 {
            let start = Instant::now();
            while !flag.load(Acquire) {
                if start.elapsed() >= Duration::from_secs(1) {
                    continue 'attempts;
                }
            }
            answer = Some(attempt);
            break;
        }
        assert!(answer.unwrap() < 3);
        other.join().unwrap();
    }
}
