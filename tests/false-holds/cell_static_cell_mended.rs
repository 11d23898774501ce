//! holds
//!
//! As it should be: the lock is given back by a release store.

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::{AtomicBool, Ordering};
use unpick::thread;

struct Table {
    busy: AtomicBool,
    rows: UnsafeCell<[u32; 3]>,
}

// SAFETY: who has set the flag uses the rows.
unsafe impl Sync for Table {}

static TABLE: Table = Table { busy: AtomicBool::new(false), rows: UnsafeCell::new([0; 3]) };

fn add(row: usize) {
    while TABLE.busy.swap(true, Ordering::Acquire) {
        unpick::thread::yield_now();
    }
    // SAFETY: the flag is ours.
    unsafe { (*TABLE.rows.get())[row] += 1 };
    TABLE.busy.store(false, Ordering::Release);
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let other = thread::spawn(|| add(1));
        add(1);
        other.join().unwrap();
        // SAFETY: the other thread has ended.
        assert_eq!(unsafe { *TABLE.rows.get() }, [0, 2, 0]);
    }
}
