//! violated: data race
//!
//! The lock is taken by an exchange that does not acquire.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicU8, Ordering};
use unpick::thread;

struct Guarded {
    state: AtomicU8,
    list: UnsafeCell<Vec<u8>>,
}

// SAFETY: the state says who may use the list.
unsafe impl Sync for Guarded {}
// SAFETY: as above.
unsafe impl Send for Guarded {}

impl Guarded {
    fn try_push(&self, value: u8) -> bool {
        let free = self.state.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
        if free.is_err() {
            return false;
        }
        // SAFETY: nobody else has the lock.
        unsafe { (*self.list.get()).push(value) };
        self.state.store(0, Ordering::Release);
        true
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let guarded = Arc::new(Guarded { state: AtomicU8::new(0), list: UnsafeCell::new(Vec::new()) });
        let theirs = guarded.clone();
        let other = thread::spawn(move || theirs.try_push(1));
        let ours = guarded.try_push(2);
        let pushed = usize::from(other.join().unwrap()) + usize::from(ours);
        // SAFETY: the other thread has ended.
        assert_eq!(unsafe { (*guarded.list.get()).len() }, pushed);
    }
}
