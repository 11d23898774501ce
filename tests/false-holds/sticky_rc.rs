//! violated: panic
//!
//! The first round in vain sets a flag that is shared in one thread. Every further round leaves it as it is, so these may be dropped, and
//! the first may not.

use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        let seen = black_box(Rc::new(Cell::new(false)));
        let same = black_box(seen.clone());
        while !flag.load(Acquire) {
            seen.set(true);
        }
        assert!(!same.get());
        other.join().unwrap();
    }
}
