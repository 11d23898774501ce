//! holds
//!
//! It reads through the guard that it has.

use unpick::sync::{Arc, RwLock, RwLockWriteGuard};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let lock = Arc::new(RwLock::new(1));
        let theirs = Arc::clone(&lock);
        let writer = thread::spawn(move || *theirs.write().unwrap() += 1);
        let reads = RwLockWriteGuard::downgrade(lock.write().unwrap());
        let again = *reads;
        assert_eq!(*reads, again);
        drop(reads);
        writer.join().unwrap();
    }
}
