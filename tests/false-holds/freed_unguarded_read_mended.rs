//! holds
//!
//! As the other one, but the writer waits for the reader.

use std::ptr;

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicPtr;
use unpick::sync::atomic::Ordering::{Acquire, Release, AcqRel};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new(AtomicPtr::new(ptr::null_mut::<u64>()));
        shared.store(Box::into_raw(Box::new(7)), Release);
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            let value = theirs.load(Acquire);
            if !value.is_null() {
                // SAFETY: it is freed when this thread has ended.
                std::hint::black_box(unsafe { *value });
            }
        });
        let value = shared.swap(ptr::null_mut(), AcqRel);
        reader.join().unwrap();
        // SAFETY: nobody else uses it.
        drop(unsafe { Box::from_raw(value) });
    }
}
