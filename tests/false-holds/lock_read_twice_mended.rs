//! holds
//!
//! The first guard is given back before the second is taken.

use unpick::sync::{Arc, RwLock};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let lock = Arc::new(RwLock::new(1));
        let theirs = Arc::clone(&lock);
        let writer = thread::spawn(move || *theirs.write().unwrap() += 1);
        let first = *lock.read().unwrap();
        let second = *lock.read().unwrap();
        assert!(first <= second);
        writer.join().unwrap();
    }
}
