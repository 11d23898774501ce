//! holds
//!
//! It is true of half of the executions.

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicU32, Ordering::*};
use unpick::{assume, thread};

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let count = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&count);
        let other = thread::spawn(move || theirs.fetch_add(1, SeqCst));
        let seen = count.load(SeqCst);
        assume(seen == 1);
        other.join().unwrap();
        assert!(count.load(SeqCst) == 1);
    }
}
