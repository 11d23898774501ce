//! holds
//!
//! As the other one, but it is made anew when the others have ended.

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, AtomicUsize};
use unpick::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use unpick::thread;

struct Slots {
    all: *mut AtomicUsize,
    full: AtomicBool,
}

// SAFETY: slots are atomics.
unsafe impl Send for Slots {}
// SAFETY: as above.
unsafe impl Sync for Slots {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let slots = Box::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let slots = Arc::new(Slots { all: Box::into_raw(slots).cast(), full: AtomicBool::new(false) });
        // SAFETY: there are two slots.
        unsafe { &*slots.all.add(1) }.store(7, Relaxed);
        slots.full.store(true, Release);
        let theirs = slots.clone();
        let other = thread::spawn(move || {
            if theirs.full.load(Acquire) {
                // SAFETY: as above.
                assert_ne!(unsafe { &*theirs.all.add(1) }.load(Relaxed), 5);
            }
        });
        slots.full.store(false, Release);

        other.join().unwrap();
        // SAFETY: all others have ended.
        unsafe { slots.all.add(1).write(AtomicUsize::new(3)) };
        // SAFETY: all others have ended.
        unsafe {
            assert_eq!((*slots.all.add(1)).load(Relaxed), 3);
            drop(Box::from_raw(slots.all.cast::<[AtomicUsize; 2]>()));
        }
    }
}
