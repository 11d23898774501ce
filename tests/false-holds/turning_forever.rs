//! violated: livelock
//!
//! A loop whose state comes back every second round waits for a value that nobody stores. The livelock must be told, and for that
//! found again.

use std::cell::Cell;
use std::hint::black_box;

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::{Acquire, Release};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let turn = Box::new(Cell::new(0));
        black_box(&turn);
        let value = Arc::new(AtomicUsize::new(0));
        let theirs = value.clone();
        let other = thread::spawn(move || theirs.store(1, Release));
        while value.load(Acquire) != 2 {
            turn.set(turn.get() ^ 1);
        }
        other.join().unwrap();
    }
}
