//! holds
//!
//! As the other one, but nobody helps.

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
            assert!(seen & 1 < 2);
        });
        link.fetch_or(1, AcqRel);
        link.swap(0, AcqRel);
        // SAFETY: it is no longer linked.
        drop(unsafe { Box::from_raw(node as *mut [u64; 2]) });
        helper.join().unwrap();
    }
}
