//! inconclusive: what a thread of the operating system does was not seen
//!
//! The thread is one of the operating system.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let count = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&count);
        let other = thread::spawn(move || theirs.fetch_add(1, SeqCst));
        other.join().unwrap();
        assert_eq!(count.load(SeqCst), 1);
    }
}
