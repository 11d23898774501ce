//! violated: use after free
//!
//! The pointer to a node has a mark in its lowest bit. Whoever finds the mark helps to take the node out, and reads it although
//! its owner frees it.

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::{AcqRel, Acquire};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let node = Box::into_raw(Box::new([5u64, 6])) as usize;
        let link = Arc::new(AtomicUsize::new(node));
        let theirs = link.clone();
        let helper = thread::spawn(move || {
            let seen = theirs.load(Acquire);
            if seen & 1 == 1 {
                // SAFETY: it is not safe: that is what the program is for.
                assert_eq!(unsafe { (*((seen & !1) as *const [u64; 2]))[1] }, 6);
            }
        });
        link.fetch_or(1, AcqRel);
        link.swap(0, AcqRel);
        // SAFETY: it is no longer linked.
        drop(unsafe { Box::from_raw(node as *mut [u64; 2]) });
        helper.join().unwrap();
    }
}
