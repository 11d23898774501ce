//! holds
//!
//! The lock is seen.

use unpick::sync::{Arc, Mutex};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let count = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&count);
        let other = thread::spawn(move || *theirs.lock().unwrap() += 1);
        *count.lock().unwrap() += 1;
        other.join().unwrap();
        assert_eq!(*count.lock().unwrap(), 2);
    }
}
