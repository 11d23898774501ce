//! holds
//!
//! The main thread drops it when the other has ended.

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicUsize, Ordering::*};
use unpick::thread;

static DROPPED_BY: AtomicUsize = AtomicUsize::new(0);

/// Says who drops it: 1 is the main thread.
struct Says;

unpick::thread_local! {
    static NUMBER: std::cell::Cell<usize> = const { std::cell::Cell::new(2) };
}

impl Drop for Says {
    fn drop(&mut self) {
        DROPPED_BY.store(NUMBER.get(), SeqCst);
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        NUMBER.set(1);
        let shared = Arc::new(Says);
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || drop(theirs));
        other.join().unwrap();
        drop(shared);
        assert_eq!(DROPPED_BY.load(SeqCst), 1);
    }
}
