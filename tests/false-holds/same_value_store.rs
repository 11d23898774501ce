//! holds
//!
//! Each round stores the value that is there already.

use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicUsize;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let pair = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let theirs = pair.clone();
        let other = thread::spawn(move || {
            while theirs.0.load(Acquire) == 0 {
                thread::yield_now();
            }
            theirs.1.store(1, Release);
        });
        while pair.1.load(Acquire) == 0 {
            pair.0.store(1, Release);
            thread::yield_now();
        }
        other.join().unwrap();
    }
}
