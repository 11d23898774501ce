//! holds
//!
//! As it should be: the last handle gives the contents away, whoever has it.

use std::sync::Arc;

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::{AtomicUsize, Ordering};
use unpick::thread;

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let steps = unpick::sync::Arc::new(AtomicUsize::new(0));
        let cell = Arc::new(Shared(UnsafeCell::new([0u8; 4])));
        let (theirs, counted) = (cell.clone(), steps.clone());
        thread::spawn(move || {
            // SAFETY: nobody else writes, or should.
            unsafe { (*theirs.0.get())[0] += 1 };
            counted.fetch_add(1, Ordering::Relaxed);
        });
        steps.fetch_add(1, Ordering::Relaxed);
        if let Some(mut last) = Arc::into_inner(cell) {
            last.0.get_mut()[1] = 3;
        }
    }
}
