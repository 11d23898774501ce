//! holds
//!
//! As the other one, but the pointer is read again once the hazard pointer is set.

use std::ptr;

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicPtr;
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

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
            let value = theirs.current.load(SeqCst);
            theirs.hazard.store(value, SeqCst);
            if theirs.current.load(SeqCst) == value {
                // SAFETY: the hazard pointer keeps it.
                std::hint::black_box(unsafe { *value });
            }
            theirs.hazard.store(ptr::null_mut(), SeqCst);
        });
        let old = shared.current.swap(Box::into_raw(Box::new(2)), SeqCst);
        let kept = shared.hazard.load(SeqCst) == old;
        if !kept {
            // SAFETY: nobody has it.
            drop(unsafe { Box::from_raw(old) });
        }
        reader.join().unwrap();
        // SAFETY: all others have ended.
        unsafe {
            if kept {
                drop(Box::from_raw(old));
            }
            drop(Box::from_raw(shared.current.load(SeqCst)));
        }
    }
}
