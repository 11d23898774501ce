//! holds
//!
//! Who finds a lock taken for longer than a second gives up.

use std::time::Duration;

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::thread;
use unpick::time::Instant;

struct Leased {
    taken: AtomicBool,
    value: UnsafeCell<u32>,
}

// SAFETY: who has taken it uses the value.
unsafe impl Sync for Leased {}

impl Leased {
    fn add(&self) -> bool {
        let start = Instant::now();
        while self.taken.swap(true, Acquire) {
            if start.elapsed() > Duration::from_secs(1) {
                return false;
            }
            thread::yield_now();
        }
        // SAFETY: it is taken.
        self.value.with_mut(|value| unsafe { *value += 1 });
        self.taken.store(false, Release);
        true
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let leased = Arc::new(Leased { taken: AtomicBool::new(false), value: UnsafeCell::new(0) });
        let theirs = leased.clone();
        let other = thread::spawn(move || theirs.add());
        let mine = leased.add();
        let added = u32::from(other.join().unwrap()) + u32::from(mine);
        assert!(leased.value.with(|value| unsafe { *value } == added));
    }
}
