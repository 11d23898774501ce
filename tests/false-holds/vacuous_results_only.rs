//! inconclusive: no object was used by two threads
//!
//! Threads that compute something, and share nothing.

use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let threads = [1, 2].map(|number| thread::spawn(move || number * number));
        assert_eq!(threads.map(|thread| thread.join().unwrap()), [1, 4]);
    }
}
