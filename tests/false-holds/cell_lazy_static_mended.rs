//! holds
//!
//! As it should be: a spin lock in it guards the counter.

use unpick::cell::UnsafeCell;
use unpick::sync::LazyLock;
use unpick::sync::atomic::{AtomicBool, Ordering};
use unpick::thread;

struct Counter {
    taken: AtomicBool,
    count: UnsafeCell<(u32, Vec<u8>)>,
}

// SAFETY: who has taken the counter uses it.
unsafe impl Sync for Counter {}
// SAFETY: as above.
unsafe impl Send for Counter {}

static COUNTER: LazyLock<Counter> =
    LazyLock::new(|| Counter { taken: AtomicBool::new(false), count: UnsafeCell::new((0, vec![1])) });

fn add() {
    while COUNTER.taken.swap(true, Ordering::Acquire) {
        thread::yield_now();
    }
    // SAFETY: the counter is ours, or should be.
    unsafe { (*COUNTER.count.get()).0 += 1 };
    COUNTER.taken.store(false, Ordering::Release);
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let other = thread::spawn(add);
        add();
        other.join().unwrap();
        // SAFETY: the other thread has ended.
        assert_eq!(unsafe { (*COUNTER.count.get()).0 }, 2);
    }
}
