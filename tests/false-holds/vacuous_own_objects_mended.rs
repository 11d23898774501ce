//! holds
//!
//! They share it.

use unpick::sync::atomic::{AtomicU32, Ordering::*};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let count = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| count.fetch_add(1, SeqCst));
            count.fetch_add(1, SeqCst);
        });
        assert_eq!(count.load(SeqCst), 2);
    }
}
