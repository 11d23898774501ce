//! holds
//!
//! As the other one, but it lives as long as the check.

use std::ptr;

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicPtr;
use unpick::sync::atomic::Ordering::{Acquire, Release};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new(AtomicPtr::new(ptr::null_mut::<u64>()));
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            let value = theirs.load(Acquire);
            if !value.is_null() {
                // SAFETY: it lives as long as the check.
                std::hint::black_box(unsafe { *value });
            }
        });
        let mut value = Box::new(6);
        let pointer = &raw mut *value;

        shared.store(pointer, Release);
        reader.join().unwrap();
        assert_eq!(*value, 6);
    }
}
