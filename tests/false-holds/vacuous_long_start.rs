//! holds
//!
//! What comes before the first thread is started costs no executions, however long it is.

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicU32, Ordering::*};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let count = Arc::new(AtomicU32::new(0));
        for _ in 0..30_000 {
            count.fetch_add(1, Relaxed);
        }
        let theirs = Arc::clone(&count);
        let other = thread::spawn(move || theirs.fetch_add(1, Relaxed));
        count.fetch_add(1, Relaxed);
        other.join().unwrap();
        assert_eq!(count.load(Relaxed), 30_002);
    }
}
