//! violated: use after free
//!
//! The parent gives a block to a thread that frees it, and reads from it without an operation in between.

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering::Relaxed};
use unpick::thread;

struct Given(*mut u64);
// SAFETY: the thread that has it is its owner.
unsafe impl Send for Given {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let block = Box::into_raw(Box::new(8));
        let given = Given(block);
        let told = Arc::new(AtomicBool::new(false));
        let theirs = told.clone();

        let other = thread::spawn(move || {
            let given = given;
            theirs.store(true, Relaxed);
            // SAFETY: this thread is the owner.
            drop(unsafe { Box::from_raw(given.0) });
        });
        // SAFETY: it is not safe: that is what the program is for.
        std::hint::black_box(unsafe { *block });
        told.load(Relaxed);
        other.join().unwrap();
    }
}
