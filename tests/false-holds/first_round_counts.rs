//! violated: livelock
//!
//! The first round stores another value than the one that is there, and the next ones store the same; nobody ends the loop.

use std::sync::atomic::Ordering::SeqCst;

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicUsize;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let pair = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let theirs = pair.clone();
        let other = thread::spawn(move || {
            while theirs.0.load(SeqCst) != 2 {
                theirs.1.store(1, SeqCst);
            }
        });
        other.join().unwrap();
    }
}
