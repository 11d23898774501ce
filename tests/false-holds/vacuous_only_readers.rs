//! holds
//!
//! A lock that threads only read is shared.

use unpick::sync::{Arc, RwLock};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let lock = Arc::new(RwLock::new(1));
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || *theirs.read().unwrap());
        assert_eq!(*lock.read().unwrap(), other.join().unwrap());
    }
}
