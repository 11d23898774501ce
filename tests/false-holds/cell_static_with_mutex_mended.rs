//! holds
//!
//! As it should be: the number is changed while the mutex is held; each execution begins with 0.

use unpick::cell::UnsafeCell;
use unpick::sync::Mutex;
use unpick::thread;

struct All(UnsafeCell<(u64, Mutex<u64>)>);

// SAFETY: the mutex guards the number.
unsafe impl Sync for All {}

static ALL: All = All(UnsafeCell::new((0, Mutex::new(0))));

fn add() {
    // SAFETY: there are references to the mutex only.
    let mutex = unsafe { &(*ALL.0.get()).1 };
    let mut count = mutex.lock().unwrap();
    *count += 1;
    // SAFETY: the mutex is held, or should be.
    unsafe { (*ALL.0.get()).0 += 1 };
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        // SAFETY: there is no other thread.
        unsafe { (*ALL.0.get()).0 += 1 };
        let other = thread::spawn(add);
        add();
        other.join().unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { (*ALL.0.get()).0 }, 3);
        // SAFETY: as above.
        assert_eq!(unsafe { *(*ALL.0.get()).1.lock().unwrap() }, 2);
    }
}
