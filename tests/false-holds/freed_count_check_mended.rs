//! holds
//!
//! As the other one, in one step.

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::AcqRel;
use unpick::thread;

struct Inner {
    owners: AtomicUsize,
    value: u32,
}

struct Handle(*mut Inner);
// SAFETY: the count keeps the block.
unsafe impl Send for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe {
            if (*self.0).owners.fetch_sub(1, AcqRel) == 1 && (*self.0).value == 3 {
                drop(Box::from_raw(self.0));
            }
        }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let inner = Box::into_raw(Box::new(Inner { owners: AtomicUsize::new(2), value: 3 }));
        let (one, other) = (Handle(inner), Handle(inner));
        let thread = thread::spawn(move || drop(other));
        drop(one);
        thread.join().unwrap();
    }
}
