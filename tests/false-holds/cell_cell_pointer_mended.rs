//! holds
//!
//! As it should be: one thread changes it, when the other has ended.

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
        other.join().unwrap();
        // SAFETY: the other thread has ended.
        unsafe { *shared.0.as_ptr() = 3 };
        assert!(shared.0.get() > 1);
    }
}
