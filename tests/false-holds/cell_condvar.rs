//! violated: data race
//!
//! Who waits for a condition does not hold the mutex when it writes.

use unpick::cell::UnsafeCell;
use unpick::sync::{Arc, Condvar, Mutex};
use unpick::thread;

struct Account {
    open: Mutex<bool>,
    opened: Condvar,
    balance: UnsafeCell<i64>,
}

// SAFETY: the mutex guards the balance.
unsafe impl Sync for Account {}
// SAFETY: as above.
unsafe impl Send for Account {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let account =
            Account { open: Mutex::new(false), opened: Condvar::new(), balance: UnsafeCell::new(0) };
        let account = Arc::new(account);
        let theirs = account.clone();
        let other = thread::spawn(move || {
            let mut open = theirs.open.lock().unwrap();
            while !*open {
                open = theirs.opened.wait(open).unwrap();
            }
            drop(open);
            // SAFETY: the mutex is held, or should be.
            unsafe { *theirs.balance.get() += 5 };
        });
        *account.open.lock().unwrap() = true;
        account.opened.notify_one();
        let guard = account.open.lock().unwrap();
        // SAFETY: the mutex is held.
        unsafe { *account.balance.get() -= 3 };
        drop(guard);
        other.join().unwrap();
    }
}
