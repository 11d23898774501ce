//! holds
//!
//! As `sticky_own_thread_local`; the flag is set whatever happens.

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
        SEEN.with(|seen| seen.set(true));
        assert!(SEEN.with(Cell::get));
        other.join().unwrap();
    }
}
