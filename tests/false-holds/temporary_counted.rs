//! violated: panic
//!
//! Each round has a box of its own, and counts those that lie elsewhere than the last one.

use std::hint::black_box;
use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        let (mut last, mut others) = (0, 0);
        while !flag.load(Acquire) {
            let own = black_box(Box::new(1_u64));
            if &raw const *own as usize != last {
                last = &raw const *own as usize;
                others += 1;
            }
        }
        assert!(others < 3);
        other.join().unwrap();
    }
}
