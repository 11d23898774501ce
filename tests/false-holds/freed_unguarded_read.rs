//! violated: use after free
//!
//! A reader takes the pointer and reads what it points to; the writer takes it out and frees it without waiting for the reader.

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
                // SAFETY: it is not safe: that is what the program is for.
                std::hint::black_box(unsafe { *value });
            }
        });
        let value = shared.swap(ptr::null_mut(), AcqRel);
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(value) });
        reader.join().unwrap();
    }
}
