//! holds
//!
//! As the other one, but the parent reads before.

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
        // SAFETY: this thread is the owner so far.
        std::hint::black_box(unsafe { *block });
        let other = thread::spawn(move || {
            let given = given;
            theirs.store(true, Relaxed);
            // SAFETY: this thread is the owner.
            drop(unsafe { Box::from_raw(given.0) });
        });

        told.load(Relaxed);
        other.join().unwrap();
    }
}
