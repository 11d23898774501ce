//! violated: data race
//!
//! Two threads keep each other out as Peterson does, without an order of all of their operations.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use unpick::thread;

struct Peterson {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
    count: UnsafeCell<i32>,
}

// SAFETY: one of the two uses the count.
unsafe impl Sync for Peterson {}
// SAFETY: as above.
unsafe impl Send for Peterson {}

impl Peterson {
    fn try_add(&self, own: usize) {
        self.wants[own].store(true, Ordering::Release);
        self.turn.store(1 - own, Ordering::Release);
        let other_wants = self.wants[1 - own].load(Ordering::Acquire);
        if !other_wants || self.turn.load(Ordering::Acquire) == own {
            // SAFETY: the other one does not come here.
            unsafe { *self.count.get() += 1 };
        }
        self.wants[own].store(false, Ordering::Release);
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let peterson = Arc::new(Peterson {
            wants: [AtomicBool::new(false), AtomicBool::new(false)],
            turn: AtomicUsize::new(0),
            count: UnsafeCell::new(0),
        });
        let theirs = peterson.clone();
        let other = thread::spawn(move || theirs.try_add(1));
        peterson.try_add(0);
        other.join().unwrap();
    }
}
