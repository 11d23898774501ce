//! holds
//!
//! As it should be: the second has synchronised with the first.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicU8, Ordering};
use unpick::thread;

struct Chain {
    stage: AtomicU8,
    value: UnsafeCell<u32>,
}

// SAFETY: the stage says whose the value is.
unsafe impl Sync for Chain {}
// SAFETY: as above.
unsafe impl Send for Chain {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let chain = Arc::new(Chain { stage: AtomicU8::new(0), value: UnsafeCell::new(0) });
        let (one, two) = (chain.clone(), chain.clone());
        let first = thread::spawn(move || {
            // SAFETY: nobody else uses the value in this stage.
            unsafe { *one.value.get() = 1 };
            one.stage.store(1, Ordering::Release);
        });
        let second = thread::spawn(move || {
            if two.stage.load(Ordering::Acquire) == 1 {
                two.stage.store(2, Ordering::Release);
            }
        });
        if chain.stage.load(Ordering::Acquire) == 2 {
            // SAFETY: as above.
            unsafe { *chain.value.get() = 2 };
        }
        first.join().unwrap();
        second.join().unwrap();
    }
}
