//! holds
//!
//! As it should be: it is unparked, which orders the writes.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering};
use unpick::thread;

struct Task {
    go: AtomicBool,
    input: UnsafeCell<(u8, u64)>,
}

// SAFETY: the flag says whose the input is.
unsafe impl Sync for Task {}
// SAFETY: as above.
unsafe impl Send for Task {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let task = Arc::new(Task { go: AtomicBool::new(false), input: UnsafeCell::new((0, 0)) });
        let theirs = task.clone();
        let worker = thread::spawn(move || {
            while !theirs.go.load(Ordering::Acquire) {
                thread::park();
            }
            // SAFETY: the input is ours.
            unsafe { (*theirs.input.get()).1 += 1 };
        });
        // SAFETY: the worker waits.
        unsafe { *task.input.get() = (1, 41) };
        task.go.store(true, Ordering::Release);
        worker.thread().unpark();
        worker.join().unwrap();
    }
}
