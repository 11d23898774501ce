//! holds
//!
//! As it should be: it has written before.

use unpick::cell::UnsafeCell;
use unpick::sync::{Arc, mpsc};
use unpick::thread;

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let book = Arc::new(Shared(UnsafeCell::new([0u16; 3])));
        let (sender, receiver) = mpsc::channel();
        let theirs = book.clone();
        let writer = thread::spawn(move || {
            // SAFETY: the token is here, or should be.
            let entry = |value| unsafe { (*theirs.0.get())[1] = value };
            entry(1);
            entry(2);
            sender.send(()).unwrap();
        });
        if receiver.recv().is_ok() {
            // SAFETY: the token is here.
            unsafe { (*book.0.get())[1] = 3 };
        }
        writer.join().unwrap();
    }
}
