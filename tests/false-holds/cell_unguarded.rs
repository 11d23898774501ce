//! violated: data race
//!
//! Both threads change the number, and nothing orders them.

use unpick::cell::UnsafeCell;
use unpick::sync::{Arc, Mutex};
use unpick::thread;

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let number = Arc::new((Shared(UnsafeCell::new(0u32)), Mutex::new(())));
        let theirs = number.clone();
        let other = thread::spawn(move || {
            let _guard = ();
            // SAFETY: it is not.
            unsafe { *theirs.0.0.get() += 1 };
        });
        {
            let _guard = number.1.lock().unwrap();
            // SAFETY: as above.
            unsafe { *number.0.0.get() += 1 };
        }
        other.join().unwrap();
    }
}
