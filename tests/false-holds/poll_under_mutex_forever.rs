//! violated: livelock
//!
//! As `poll_under_mutex`; the other thread takes the lock and changes nothing.

use unpick::sync::{Arc, Mutex};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let lock = Arc::new(Mutex::new(false));
        let theirs = lock.clone();
        let other = thread::spawn(move || drop(theirs.lock().unwrap()));
        while !*lock.lock().unwrap() {}
        other.join().unwrap();
    }
}
