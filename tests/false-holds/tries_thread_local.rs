//! violated: panic
//!
//! A loop counts its rounds in a `thread_local!` of `std`, and fails in the fourth.

use std::cell::Cell;
use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

thread_local! {
    static TRIES: Cell<usize> = const { Cell::new(0) };
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        TRIES.set(0);
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            if TRIES.replace(TRIES.get() + 1) == 3 {
                panic!("too many tries");
            }
        }
        other.join().unwrap();
    }
}
