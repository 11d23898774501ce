//! holds
//!
//! The thread is one of those under test.

use std::sync::Arc;

use unpick::sync::atomic::{AtomicU32, Ordering::*};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let count = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&count);
        let other = thread::spawn(move || theirs.fetch_add(1, SeqCst));
        other.join().unwrap();
        assert_eq!(count.load(SeqCst), 1);
    }
}
