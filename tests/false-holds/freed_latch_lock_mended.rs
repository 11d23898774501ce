//! holds
//!
//! As the other one, but the note is made under the lock.

use unpick::sync::{Condvar, Mutex};
use unpick::thread;

struct LockLatch {
    set: Mutex<bool>,
    changed: Condvar,
    sets: u64,
}

struct Shared(*mut LockLatch);
// SAFETY: the waiter frees it when it is set.
unsafe impl Send for Shared {}

impl Shared {
    fn set(&self) {
        // SAFETY: see above.
        unsafe {
            let latch = self.0;
            let mut set = (*latch).set.lock().unwrap();
            *set = true;
            (*latch).changed.notify_all();
            (*latch).sets += 1;
            drop(set);
        }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let latch = LockLatch { set: Mutex::new(false), changed: Condvar::new(), sets: 0 };
        let latch = Box::into_raw(Box::new(latch));
        let theirs = Shared(latch);
        let other = thread::spawn(move || theirs.set());
        // SAFETY: whoever sets it is done with it when it has given back the lock.
        unsafe {
            let mut set = (*latch).set.lock().unwrap();
            while !*set {
                set = (*latch).changed.wait(set).unwrap();
            }
            drop(set);
            drop(Box::from_raw(latch));
        }
        other.join().unwrap();
    }
}
