//! holds
//!
//! As the other one, but the sender reads the length before.

use unpick::sync::{Arc, Condvar, Mutex};
use unpick::thread;

struct Message(*mut Vec<u32>);
// SAFETY: whoever has it is the owner.
unsafe impl Send for Message {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let mailbox = Arc::new((Mutex::new(None), Condvar::new()));
        let theirs = mailbox.clone();
        let receiver = thread::spawn(move || {
            let mut full = theirs.0.lock().unwrap();
            while full.is_none() {
                full = theirs.1.wait(full).unwrap();
            }
            let Some(Message(message)) = full.take() else { return };
            // SAFETY: this thread is the owner now.
            drop(unsafe { Box::from_raw(message) });
        });
        let message = Box::into_raw(Box::new(vec![1, 2, 3]));
        // SAFETY: this thread is the owner so far.
        let len = unsafe { &*message }.len();
        *mailbox.0.lock().unwrap() = Some(Message(message));

        mailbox.1.notify_one();
        assert_eq!(len, 3);
        receiver.join().unwrap();
    }
}
