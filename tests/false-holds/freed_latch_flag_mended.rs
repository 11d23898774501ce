//! holds
//!
//! As the other one, but the latch counts before it tells.

use unpick::sync::atomic::AtomicBool;
use unpick::sync::atomic::Ordering::{Acquire, Release};
use unpick::thread;

struct Latch {
    set: AtomicBool,
    sets: u32,
}

#[derive(Clone, Copy)]
struct Shared(*mut Latch);
// SAFETY: whoever is told that the latch is set is the only one to use it from then on.
unsafe impl Send for Shared {}

impl Shared {
    fn set(self) {
        // SAFETY: as above.
        unsafe {
            (*self.0).sets += 1;
            (*self.0).set.store(true, Release);
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
            assert_eq!((*latch.0).sets, 1);
            drop(Box::from_raw(latch.0));
        }
        setter.join().unwrap();
    }
}
