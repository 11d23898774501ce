//! holds
//!
//! As it should be: one of them claims the place by an exchange.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicU8, Ordering};
use unpick::thread;

struct Lazy {
    state: AtomicU8,
    value: UnsafeCell<Option<Box<u32>>>,
}

// SAFETY: the value does not change once the state is 2.
unsafe impl Sync for Lazy {}
// SAFETY: as above.
unsafe impl Send for Lazy {}

impl Lazy {
    fn get(&self, value: u32) -> Option<u32> {
        let is_claimed = match self.state.load(Ordering::Acquire) {
            0 => self.state.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed).is_ok(),
            _ => false,
        };
        if is_claimed {
            // SAFETY: this thread makes the value.
            unsafe { *self.value.get() = Some(Box::new(value)) };
            self.state.store(2, Ordering::Release);
        }
        // SAFETY: the value does not change any more.
        (self.state.load(Ordering::Acquire) == 2)
            .then(|| unsafe { (*self.value.get()).as_deref().copied() })?
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let lazy = Arc::new(Lazy { state: AtomicU8::new(0), value: UnsafeCell::new(None) });
        let theirs = lazy.clone();
        let other = thread::spawn(move || theirs.get(1));
        let ours = lazy.get(2);
        if let (Some(one), Some(two)) = (other.join().unwrap(), ours) {
            assert_eq!(one, two);
        }
    }
}
