//! inconclusive: no object was used by two threads
//!
//! The atomic is that of the standard library, so nothing is seen of the lost update.

use std::sync::atomic::{AtomicU32, Ordering::*};

use unpick::sync::Arc;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let count = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&count);
        let other = thread::spawn(move || theirs.store(theirs.load(SeqCst) + 1, SeqCst));
        count.store(count.load(SeqCst) + 1, SeqCst);
        other.join().unwrap();
        assert_eq!(count.load(SeqCst), 2);
    }
}
