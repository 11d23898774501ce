//! inconclusive: no object was used by two threads
//!
//! Each thread has an object of its own, and the test is meant to be of one that they share.

use unpick::sync::atomic::{AtomicU32, Ordering::*};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let work = || {
            let count = AtomicU32::new(0);
            count.fetch_add(1, SeqCst);
            assert_eq!(count.load(SeqCst), 1);
        };
        let other = thread::spawn(work);
        work();
        other.join().unwrap();
    }
}
