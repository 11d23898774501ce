//! violated: use after free
//!
//! A reader copies a pointer out of a lock, and uses it when it has given back the lock.

use unpick::sync::{Arc, RwLock};
use unpick::thread;

struct Pointer(*mut Vec<u8>);
// SAFETY: the lock guards what it points to.
unsafe impl Send for Pointer {}
// SAFETY: as above.
unsafe impl Sync for Pointer {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new(RwLock::new(Pointer(Box::into_raw(Box::new(vec![1, 2])))));
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            let lock = theirs.read().unwrap();
            let pointer = lock.0;
            drop(lock);
            // SAFETY: it is not safe: that is what the program is for.
            assert!(!unsafe { &*pointer }.is_empty());
        });
        let mut lock = shared.write().unwrap();
        let old = std::mem::replace(&mut lock.0, Box::into_raw(Box::new(vec![3])));
        drop(lock);
        // SAFETY: readers keep the lock as long as they have the pointer.
        drop(unsafe { Box::from_raw(old) });
        reader.join().unwrap();
        let last = shared.write().unwrap().0;
        // SAFETY: all others have ended.
        drop(unsafe { Box::from_raw(last) });
    }
}
