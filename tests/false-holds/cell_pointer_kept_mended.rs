//! holds
//!
//! As it should be: one waits for the other to have written.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering};
use unpick::thread;

struct Target(*mut u64);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl Send for Target {}

impl Target {
    fn write(&self, value: u64) {
        // SAFETY: the cell is there as long as the threads.
        unsafe { *self.0 = value };
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let cell = Box::new(UnsafeCell::new(0u64));
        let pointer = cell.get();
        let done = Arc::new(AtomicBool::new(false));
        let (first, second) = (Target(pointer), Target(pointer));
        let (written, look) = (done.clone(), done.clone());
        let one = thread::spawn(move || {
            first.write(1);
            written.store(true, Ordering::Release);
        });
        let two = thread::spawn(move || {
            if look.load(Ordering::Acquire) {
                second.write(2);
            }
        });
        one.join().unwrap();
        two.join().unwrap();
        // SAFETY: the others have ended.
        assert!(unsafe { *cell.get() } >= 1);
    }
}
