//! holds
//!
//! As the other one, but the writer counts under the lock.

use unpick::sync::RwLock;
use unpick::thread;

struct Shared(*mut (RwLock<bool>, u32));
// SAFETY: the reader frees it when the writer is done.
unsafe impl Send for Shared {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let block = Box::into_raw(Box::new((RwLock::new(false), 0)));
        let theirs = Shared(block);
        let writer = thread::spawn(move || {
            let theirs = theirs;
            // SAFETY: as above.
            unsafe {
                let mut last = (*theirs.0).0.write().unwrap();
                *last = true;
                (*theirs.0).1 += 1;
                drop(last);
            }
        });
        // SAFETY: as above.
        let last = unsafe { *(*block).0.read().unwrap() };
        if !last {
            writer.join().unwrap();
        }
        // SAFETY: the writer is done.
        drop(unsafe { Box::from_raw(block) });
    }
}
