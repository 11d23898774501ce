//! violated: panic
//!
//! A round keeps the value that it has read. A second round with the same value changes nothing, and the first has.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicUsize;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let number = Arc::new(AtomicUsize::new(0));
        let theirs = number.clone();
        let other = thread::spawn(move || {
            theirs.store(1, Release);
            theirs.store(2, Release);
        });
        let last = black_box(Box::new(Cell::new(9)));
        loop {
            let now = number.load(Acquire);
            if now == 2 {
                break;
            }
            last.set(now);
        }
        assert_ne!(last.get(), 1);
        other.join().unwrap();
    }
}
