//! violated: panic
//!
//! A round sets a flag in a thread-local of unpick, which is looked at after the loop.

use std::cell::Cell;
use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

unpick::thread_local! {
    static SEEN: Cell<bool> = const { Cell::new(false) };
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            SEEN.with(|seen| seen.set(true));
        }
        assert!(!SEEN.with(Cell::get));
        other.join().unwrap();
    }
}
