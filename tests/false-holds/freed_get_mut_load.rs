//! violated: data race
//!
//! A thread resets a counter by `get_mut`, by way of a pointer, while another may be reading it.

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
            *(*counter).get_mut() = 0;
        }
        reader.join().unwrap();
        // SAFETY: all others have ended.
        assert_eq!(unsafe { Box::from_raw(counter) }.load(Relaxed), 0);
    }
}
