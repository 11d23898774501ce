//! violated: use after free
//!
//! One thread unlinks, another frees what was unlinked, and a third one reads it: it has said that it reads to the first one
//! only.

use std::ptr;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, AtomicPtr};
use unpick::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use unpick::thread;

struct Shared {
    current: AtomicPtr<u64>,
    retired: AtomicPtr<u64>,
    read: AtomicBool,
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new(Shared {
            current: AtomicPtr::new(Box::into_raw(Box::new(1))),
            retired: AtomicPtr::new(ptr::null_mut()),
            read: AtomicBool::new(false),
        });
        let [theirs, others] = [shared.clone(), shared.clone()];
        let reader = thread::spawn(move || {
            let value = theirs.current.load(Acquire);
            if !value.is_null() {
                // SAFETY: see above.
                std::hint::black_box(unsafe { *value });
            }
            theirs.read.store(true, Release);
        });
        let sweeper = thread::spawn(move || {

            let value = others.retired.swap(ptr::null_mut(), AcqRel);
            if !value.is_null() {
                // SAFETY: see above.
                drop(unsafe { Box::from_raw(value) });
            }
        });
        let old = shared.current.swap(ptr::null_mut(), AcqRel);
        shared.retired.store(old, Release);
        reader.join().unwrap();
        sweeper.join().unwrap();
        let left = shared.retired.load(Acquire);
        if !left.is_null() {
            // SAFETY: all others have ended.
            drop(unsafe { Box::from_raw(left) });
        }
    }
}
