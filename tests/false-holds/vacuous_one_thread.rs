//! holds
//!
//! A test of one thread is no mistake, as of what a structure does by itself.

use unpick::sync::atomic::{AtomicU32, Ordering::*};

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let count = AtomicU32::new(0);
        for number in 0..5 {
            assert_eq!(count.fetch_add(1, SeqCst), number);
        }
    }
}
