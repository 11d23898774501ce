//! holds
//!
//! As `last_value`; the last value before 2 is any but 2.

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
        assert_ne!(last.get(), 2);
        other.join().unwrap();
    }
}
