//! violated: data race
//!
//! A value that is made once is patched by a reader.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicU8, Ordering};
use unpick::thread;

struct Once {
    state: AtomicU8,
    value: UnsafeCell<Option<[u16; 3]>>,
}

// SAFETY: the value does not change once the state is 2.
unsafe impl Sync for Once {}
// SAFETY: as above.
unsafe impl Send for Once {}

impl Once {
    fn get(&self) -> Option<u16> {
        if self.state.compare_exchange(0, 1, Ordering::Acquire, Ordering::Acquire).is_ok() {
            // SAFETY: this thread makes the value.
            unsafe { *self.value.get() = Some([1, 2, 3]) };
            self.state.store(2, Ordering::Release);
        } else if self.state.load(Ordering::Acquire) != 2 {
            return None;
        }
        // SAFETY: the value does not change any more, or should not.
        let value = unsafe { (*self.value.get()).as_mut()? };
        value[2] += 1;
        Some(value[2])
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let once = Arc::new(Once { state: AtomicU8::new(0), value: UnsafeCell::new(None) });
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let once = once.clone();
                thread::spawn(move || once.get())
            })
            .collect();
        once.get();
        for thread in threads {
            thread.join().unwrap();
        }
    }
}
