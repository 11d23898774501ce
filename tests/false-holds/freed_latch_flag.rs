//! violated: use after free
//!
//! A latch tells the waiter that it is set, and counts afterwards. The waiter, on whose heap it lives, may have gone by then.

use unpick::sync::atomic::AtomicBool;
use unpick::sync::atomic::Ordering::{Acquire, Release};
use unpick::thread;

struct Latch {
    set: AtomicBool,
    sets: u32,
}

#[derive(Clone, Copy)]
struct Shared(*mut Latch);
// SAFETY: it is not safe: that is what the program is for.
unsafe impl Send for Shared {}

impl Shared {
    fn set(self) {
        // SAFETY: as above.
        unsafe {
            (*self.0).set.store(true, Release);
            (*self.0).sets += 1;
        }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let latch = Shared(Box::into_raw(Box::new(Latch { set: AtomicBool::new(false), sets: 0 })));
        let setter = thread::spawn(move || latch.set());
        // SAFETY: as above.
        unsafe {
            while !(*latch.0).set.load(Acquire) {}
            drop(Box::from_raw(latch.0));
        }
        setter.join().unwrap();
    }
}
