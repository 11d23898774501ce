//! holds
//!
//! As the other one, but by a store.

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::Relaxed;
use unpick::thread;

struct Shared(*mut AtomicUsize);
// SAFETY: it is an atomic.
unsafe impl Send for Shared {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let counter = Box::into_raw(Box::new(AtomicUsize::new(1)));
        let theirs = Shared(counter);
        let reader = thread::spawn(move || {
            let theirs = theirs;
            // SAFETY: it is freed when this thread has ended.
            assert!(unsafe { &*theirs.0 }.load(Relaxed) < 3);
        });
        // SAFETY: see above.
        unsafe {
            (*counter).fetch_add(1, Relaxed);
            (*counter).store(0, Relaxed);
        }
        reader.join().unwrap();
        // SAFETY: all others have ended.
        assert_eq!(unsafe { Box::from_raw(counter) }.load(Relaxed), 0);
    }
}
