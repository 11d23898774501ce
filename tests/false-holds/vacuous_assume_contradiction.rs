//! inconclusive: every execution was discarded by a condition that is assumed
//!
//! Two conditions exclude each other.

use unpick::{assume, choose, thread};

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let (one, other) = (choose(3), choose(3));
        assume(one < other);
        assume(one > other);
        let worker = thread::spawn(move || one - other);
        assert!(worker.join().unwrap() < 3);
    }
}
