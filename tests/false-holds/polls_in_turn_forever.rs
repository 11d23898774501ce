//! violated: livelock
//!
//! Two threads look at flags under the same lock, one of them at several in turn. Nobody sets any: each takes the lock and gives it back for
//! ever.

use std::sync::atomic::Ordering::Acquire;

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::{Arc, Mutex};
use unpick::thread;

/// Reads a flag under a lock.
fn look(lock: &Mutex<()>, flag: &AtomicUsize) -> usize {
    let _held = lock.lock().unwrap();
    flag.load(Acquire)
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new((Mutex::new(()), [0; 3].map(AtomicUsize::new)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            let (lock, flags) = &*theirs;
            while look(lock, &flags[0]) == 0 {}
        });
        let (lock, flags) = &*shared;
        loop {
            let (one, two, again) = (look(lock, &flags[1]), look(lock, &flags[2]), look(lock, &flags[1]));
            if one == 1 && two == 1 && again == 1 {
                break;
            }
        }
        other.join().unwrap();
    }
}
