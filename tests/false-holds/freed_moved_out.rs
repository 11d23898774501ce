//! violated: data race
//!
//! An atomic is taken out of a box by `into_inner` while another thread may change it.

use unpick::sync::atomic::{AtomicBool, AtomicU32};
use unpick::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use unpick::sync::Arc;
use unpick::thread;

struct Shared(*mut AtomicU32);
// SAFETY: it is an atomic.
unsafe impl Send for Shared {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let count = Box::into_raw(Box::new(AtomicU32::new(0)));
        let (theirs, done) = (Shared(count), Arc::new(AtomicBool::new(false)));
        let told = done.clone();
        let other = thread::spawn(move || {
            let theirs = theirs;
            // SAFETY: it is freed when this thread has ended.
            unsafe { &*theirs.0 }.fetch_add(1, Relaxed);
            told.store(true, Release);
        });
        let _ = done.load(Acquire);
        // SAFETY: see above.
        let value = unsafe { std::mem::take(&mut *(*count).get_mut()) };
        assert!(value < 2);
        other.join().unwrap();
        // SAFETY: all others have ended.
        drop(unsafe { Box::from_raw(count) });
    }
}
