//! holds
//!
//! As the other one, but the reader says so first.

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, AtomicPtr};
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

struct Shared {
    current: AtomicPtr<[u64; 4]>,
    pinned: AtomicBool,
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let first = Box::into_raw(Box::new([1; 4]));
        let shared = Arc::new(Shared { current: AtomicPtr::new(first), pinned: AtomicBool::new(false) });
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            theirs.pinned.store(true, SeqCst);
            let value = theirs.current.load(SeqCst);
            // SAFETY: it lives as long as the thread is pinned.
            std::hint::black_box(unsafe { (*value)[2] });
            theirs.pinned.store(false, SeqCst);
        });
        let old = shared.current.swap(Box::into_raw(Box::new([2; 4])), SeqCst);
        let waits = shared.pinned.load(SeqCst);
        if !waits {
            // SAFETY: whoever is pinned from now on has the new one.
            drop(unsafe { Box::from_raw(old) });
        }
        reader.join().unwrap();
        // SAFETY: all others have ended.
        unsafe {
            if waits {
                drop(Box::from_raw(old));
            }
            drop(Box::from_raw(shared.current.load(SeqCst)));
        }
    }
}
