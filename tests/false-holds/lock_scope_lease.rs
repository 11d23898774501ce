//! violated: panic
//!
//! What threads give back when they end is not all there after the scope.

use std::cell::RefCell;

use unpick::sync::Mutex;
use unpick::thread;

static RETURNED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Gives a number back when its thread ends.
struct Lease(u32);

impl Drop for Lease {
    fn drop(&mut self) {
        RETURNED.lock().unwrap().push(self.0);
    }
}

unpick::thread_local! {
    static LEASE: RefCell<Vec<Lease>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        thread::scope(|scope| {
            let threads = [1, 2].map(|number| scope.spawn(move || LEASE.with_borrow_mut(|own| own.push(Lease(number)))));
            drop(threads);
        });
        let returned = std::mem::take(&mut *RETURNED.lock().unwrap());
        assert_eq!(returned.len(), 2);
    }
}
