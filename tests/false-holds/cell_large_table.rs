//! violated: data race
//!
//! Two threads change the same one of many numbers in one cell, which is larger than what is compared at a time.

use unpick::cell::UnsafeCell;
use unpick::thread;

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        // SAFETY: numbers may be zero.
        let table: Box<Shared<[u64; 4096]>> = unsafe { Box::new_zeroed().assume_init() };
        let table = &*table;
        thread::scope(|scope| {
            // SAFETY: the number is the thread's own, or should be.
            scope.spawn(|| unsafe { table.0.get().cast::<u64>().add(700).write(1) });
            // SAFETY: as above.
            unsafe { table.0.get().cast::<u64>().add(700).write(2) };
        });
    }
}
