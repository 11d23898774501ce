//! holds
//!
//! As the other one, but the one who calls it takes it out as well.

use unpick::sync::{Arc, Mutex};
use unpick::thread;

type Callback = Box<dyn Fn() -> u32 + Send>;

struct Pointer(*const Callback);
// SAFETY: the slot owns what it points to.
unsafe impl Send for Pointer {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let number = 4;
        let callback: Callback = Box::new(move || number);
        let slot = Arc::new(Mutex::new(Some(Pointer(Box::into_raw(Box::new(callback))))));
        let theirs = slot.clone();
        let caller = thread::spawn(move || {
            let callback = theirs.lock().unwrap().take();
            if let Some(Pointer(callback)) = callback {
                // SAFETY: it is no longer in the slot.
                assert_eq!(unsafe { Box::from_raw(callback.cast_mut()) }(), 4);
            }
        });
        let taken = slot.lock().unwrap().take();
        if let Some(Pointer(callback)) = taken {
            // SAFETY: it is no longer in the slot.
            drop(unsafe { Box::from_raw(callback.cast_mut()) });
        }
        caller.join().unwrap();
    }
}
