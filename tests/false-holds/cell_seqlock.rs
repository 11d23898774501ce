//! violated: data race
//!
//! Readers of a sequence lock read while it is written to, which is not seen; its writers do not keep each other out.

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::{AtomicUsize, Ordering, fence};
use unpick::sync::{Arc, Mutex};
use unpick::thread;

struct SeqLock {
    writers: Mutex<()>,
    number: AtomicUsize,
    value: UnsafeCell<[u32; 2]>,
}

// SAFETY: readers look whether the number has changed.
unsafe impl Sync for SeqLock {}
// SAFETY: as above.
unsafe impl Send for SeqLock {}

impl SeqLock {
    fn write(&self, value: u32) {
        let _guard = self.writers.is_poisoned();
        let number = self.number.load(Ordering::Relaxed);
        self.number.store(number + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        // SAFETY: this thread is the writer.
        unsafe { self.value.get().write_volatile([value; 2]) };
        self.number.store(number + 2, Ordering::Release);
    }

    fn read(&self) -> Option<[u32; 2]> {
        let number = self.number.load(Ordering::Acquire);
        // SAFETY: the copy is not used if it was written to meanwhile.
        let value = unsafe { self.value.get().read_volatile() };
        fence(Ordering::Acquire);
        (number % 2 == 0 && self.number.load(Ordering::Relaxed) == number).then_some(value)
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let writers = Mutex::new(());
        let lock = Arc::new(SeqLock { writers, number: AtomicUsize::new(0), value: UnsafeCell::new([0; 2]) });
        let theirs = lock.clone();
        let other = thread::spawn(move || theirs.write(1));
        lock.write(2);
        other.join().unwrap();
        assert!(lock.read().is_some());
    }
}
