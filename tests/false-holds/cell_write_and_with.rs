//! violated: data race
//!
//! A write through a pointer and a read by `with` have no order.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering};
use unpick::thread;

struct Message {
    text: UnsafeCell<[u8; 12]>,
    ready: AtomicBool,
}

// SAFETY: the flag says when the text is there.
unsafe impl Sync for Message {}
// SAFETY: as above.
unsafe impl Send for Message {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let message = Arc::new(Message { text: UnsafeCell::new([0; 12]), ready: AtomicBool::new(false) });
        let theirs = message.clone();
        let other = thread::spawn(move || {
            // SAFETY: the text is not ready.
            unsafe { (*theirs.text.get()).copy_from_slice(b"hello, world") };
            theirs.ready.store(true, Ordering::Relaxed);
        });
        if message.ready.load(Ordering::Acquire) {
            // SAFETY: the text is ready.
            let text = message.text.with(|text| unsafe { *text });
            assert_eq!(&text[..5], b"hello");
        }
        other.join().unwrap();
    }
}
