//! holds
//!
//! As the other one, but the reader looks at the number only.

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicPtr, AtomicUsize, fence};
use unpick::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use unpick::thread;

struct Guarded {
    sequence: AtomicUsize,
    pointer: AtomicPtr<u32>,
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let pointer = AtomicPtr::new(Box::into_raw(Box::new(10)));
        let shared = Arc::new(Guarded { sequence: AtomicUsize::new(0), pointer });
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            let before = theirs.sequence.load(Acquire);
            let pointer = theirs.pointer.load(Relaxed);
            assert!(!pointer.is_null());
            fence(Acquire);
            let _same = theirs.sequence.load(Relaxed) == before;
        });
        shared.sequence.store(1, Relaxed);
        fence(Release);
        let old = shared.pointer.load(Relaxed);
        shared.pointer.store(Box::into_raw(Box::new(20)), Release);
        shared.sequence.store(2, Release);
        // SAFETY: see above.
        drop(unsafe { Box::from_raw(old) });
        reader.join().unwrap();
        // SAFETY: all others have ended.
        drop(unsafe { Box::from_raw(shared.pointer.load(Relaxed)) });
    }
}
