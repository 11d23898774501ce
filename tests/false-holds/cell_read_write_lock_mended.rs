//! holds
//!
//! As it should be: it is given back by a release store.

use unpick::cell::UnsafeCell;
use unpick::hint;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicU32, Ordering};
use unpick::thread;

const WRITER: u32 = 1 << 31;

struct Guarded {
    users: AtomicU32,
    value: UnsafeCell<String>,
}

// SAFETY: there is one writer, or readers.
unsafe impl Sync for Guarded {}
// SAFETY: as above.
unsafe impl Send for Guarded {}

impl Guarded {
    fn write(&self, text: &str) {
        while self.users.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_err() {
            hint::spin_loop();
        }
        // SAFETY: nobody else uses the value.
        unsafe { (*self.value.get()).push_str(text) };
        self.users.store(0, Ordering::Release);
    }

    fn read(&self) -> Option<usize> {
        let users = self.users.fetch_add(1, Ordering::Acquire);
        // SAFETY: there is no writer.
        let len = (users & WRITER == 0).then(|| unsafe { (&(*self.value.get())).len() });
        self.users.fetch_sub(1, Ordering::Release);
        len
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let guarded = Guarded { users: AtomicU32::new(0), value: UnsafeCell::new(String::with_capacity(8)) };
        let guarded = Arc::new(guarded);
        let theirs = guarded.clone();
        let other = thread::spawn(move || theirs.write("ab"));
        guarded.write("c");
        other.join().unwrap();
        assert_eq!(guarded.read(), Some(3));
    }
}
