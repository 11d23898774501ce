//! holds
//!
//! A million steps of one thread are one execution.

use unpick::sync::atomic::{AtomicU32, Ordering::*};

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let count = AtomicU32::new(0);
        for _ in 0..500_000 {
            count.store(count.load(Relaxed) + 1, Relaxed);
        }
        assert_eq!(count.load(Relaxed), 500_000);
    }
}
