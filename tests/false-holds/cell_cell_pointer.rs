//! violated: data race
//!
//! A `Cell` that threads share is changed by way of its pointer.

use unpick::cell::Cell;
use unpick::sync::Arc;
use unpick::thread;

struct Shared(Cell<u32>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new(Shared(Cell::new(1)));
        let theirs = shared.clone();
        let other = thread::spawn(move || theirs.0.set(2));
        // SAFETY: it is not.
        unsafe { *shared.0.as_ptr() = 3 };
        other.join().unwrap();
        assert!(shared.0.get() > 1);
    }
}
