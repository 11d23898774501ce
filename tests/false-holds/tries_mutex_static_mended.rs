//! holds
//!
//! As `tries_mutex_static`; the count in a static under a mutex ends at 3, and from then on a round changes nothing.

use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::Arc;
use unpick::sync::Mutex;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

static TRIES: Mutex<usize> = Mutex::new(0);

/// One more; how many there were.
fn count() -> usize {
    let mut tries = TRIES.lock().unwrap();
    *tries += 1;
    *tries - 1
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        *TRIES.lock().unwrap() = 0;
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            if *TRIES.lock().unwrap() < 3 {
                count();
            }
        }
        assert!(*TRIES.lock().unwrap() <= 3);
        other.join().unwrap();
    }
}
