//! violated: use after free
//!
//! Two threads meet at a barrier in a block. One frees it right afterwards, the other still writes to it.

use unpick::sync::{Arc, Barrier};
use unpick::thread;

struct Shared(*mut [u64; 3]);
// SAFETY: it is used before the barrier only.
unsafe impl Send for Shared {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let barrier = Arc::new(Barrier::new(2));
        let block = Box::into_raw(Box::new([0; 3]));
        let (theirs, shared) = (barrier.clone(), Shared(block));
        let other = thread::spawn(move || {
            let shared = shared;
            theirs.wait();
            // SAFETY: it is not safe: that is what the program is for.
            unsafe { (*shared.0)[1] = 4 };
        });
        barrier.wait();
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(block) });
        other.join().unwrap();
    }
}
