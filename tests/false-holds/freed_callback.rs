//! violated: use after free
//!
//! A callback is taken out of its slot and freed while another thread may be calling it.

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
            let callback = theirs.lock().unwrap().as_ref().map(|callback| callback.0);
            if let Some(callback) = callback {
                // SAFETY: it is not safe: that is what the program is for.
                assert_eq!(unsafe { (*callback)() }, 4);
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
