//! violated: use after free
//!
//! A writer says under a lock for readers and writers that it is the last, and counts in the same block when it has given back
//! the lock. The reader that finds that frees the block.

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
                drop(last);
                (*theirs.0).1 += 1;
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
