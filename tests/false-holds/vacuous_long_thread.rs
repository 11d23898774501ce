//! holds
//!
//! Two hundred thousand steps of one thread are one execution.

use unpick::sync::atomic::{AtomicU32, Ordering::*};

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let count = AtomicU32::new(0);
        for _ in 0..100_000 {
            count.store(count.load(Relaxed) + 1, Relaxed);
        }
        assert_eq!(count.load(Relaxed), 100_000);
    }
}
