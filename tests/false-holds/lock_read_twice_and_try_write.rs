//! holds
//!
//! Who only tries to write does not wait, and keeps nobody out.

use unpick::sync::{Arc, RwLock};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let lock = Arc::new(RwLock::new(1));
        let theirs = Arc::clone(&lock);
        let writer = thread::spawn(move || {
            if let Ok(mut value) = theirs.try_write() {
                *value += 1;
            }
        });
        let first = lock.read().unwrap();
        assert_eq!(*first, *lock.read().unwrap());
        drop(first);
        writer.join().unwrap();
    }
}
