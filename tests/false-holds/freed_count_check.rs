//! violated: use after free
//!
//! A count of owners is looked at and then lowered in two steps: two owners may both see the other, and neither frees; or one
//! frees after the other has looked, which then reads the block again to lower the count.

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::{Acquire, Release};
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
            (*self.0).owners.fetch_sub(1, Release);
            // Somebody else may have seen the zero, and freed the block.
            if (*self.0).value == 3 && (*self.0).owners.load(Acquire) == 0 {
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
