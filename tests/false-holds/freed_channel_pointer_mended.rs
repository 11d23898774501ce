//! holds
//!
//! As the other one, but the sender writes before.

use unpick::sync::mpsc;
use unpick::thread;

struct Sent(*mut [u8; 32]);
// SAFETY: whoever has received it is the owner.
unsafe impl Send for Sent {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let (sender, receiver) = mpsc::channel();
        let (told, tells) = mpsc::channel();
        let owner = thread::spawn(move || {
            let Ok(Sent(block)) = receiver.recv() else { return };
            // SAFETY: this thread is the owner.
            drop(unsafe { Box::from_raw(block) });
            told.send(()).unwrap();
        });
        let block = Box::into_raw(Box::new([0; 32]));
        // SAFETY: this thread is the owner so far.
        unsafe { (*block)[7] = 1 };
        sender.send(Sent(block)).unwrap();
        let _ = tells.try_recv();

        owner.join().unwrap();
    }
}
