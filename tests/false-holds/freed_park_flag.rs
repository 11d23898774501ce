//! violated: use after free
//!
//! A worker stores that it is done and counts in its task afterwards. The parked owner frees the task as soon as it sees the
//! flag.

use unpick::sync::atomic::AtomicBool;
use unpick::sync::atomic::Ordering::{Acquire, Release};
use unpick::thread;

struct Task {
    done: AtomicBool,
    ran: u64,
    result: Option<Box<u64>>,
}

struct Shared(*mut Task);
// SAFETY: the worker has it until it is done.
unsafe impl Send for Shared {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let task = Box::into_raw(Box::new(Task { done: AtomicBool::new(false), ran: 0, result: None }));
        let (shared, owner) = (Shared(task), thread::current());
        let worker = thread::spawn(move || {
            let shared = shared;
            // SAFETY: as above.
            unsafe {
                (*shared.0).result = Some(Box::new(11));
                (*shared.0).done.store(true, Release);
                (*shared.0).ran += 1;
                owner.unpark();
            }
        });
        // SAFETY: as above.
        unsafe {
            while !(*task).done.load(Acquire) {
                thread::park();
            }
            assert_eq!(Box::from_raw(task).result.as_deref(), Some(&11));
        }
        worker.join().unwrap();
    }
}
