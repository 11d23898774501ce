//! violated: use after free
//!
//! A reader under a sequence lock follows a pointer before it looks whether the sequence has changed, and the writer has freed
//! what it points to.

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
            // SAFETY: it is not safe: that is what the program is for.
            std::hint::black_box(if before % 2 == 0 { unsafe { pointer.read_volatile() } } else { 0 });
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
