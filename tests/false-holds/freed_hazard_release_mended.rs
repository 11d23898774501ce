//! holds
//!
//! As the other one, but all four are sequentially consistent.

use std::ptr;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicPtr, Ordering};
use unpick::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use unpick::thread;

const STORE: Ordering = SeqCst;
const LOAD: Ordering = SeqCst;

struct Shared {
    current: AtomicPtr<u64>,
    hazard: AtomicPtr<u64>,
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let first = Box::into_raw(Box::new(1));
        let shared = Arc::new(Shared { current: AtomicPtr::new(first), hazard: AtomicPtr::new(ptr::null_mut()) });
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            let value = theirs.current.load(Acquire);
            theirs.hazard.store(value, STORE);
            if !value.is_null() && theirs.current.load(LOAD) == value {
                // SAFETY: the hazard pointer keeps it.
                std::hint::black_box(unsafe { *value });
            }
            theirs.hazard.store(ptr::null_mut(), Release);
        });
        let old = shared.current.swap(ptr::null_mut(), SeqCst);
        let kept = shared.hazard.load(LOAD) == old;
        if !kept {
            // SAFETY: nobody has it.
            drop(unsafe { Box::from_raw(old) });
        }
        reader.join().unwrap();
        if kept {
            // SAFETY: all others have ended.
            drop(unsafe { Box::from_raw(old) });
        }
    }
}
