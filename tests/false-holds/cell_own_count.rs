//! violated: use after free
//!
//! The count is lowered by a relaxed operation, so that the last owner frees what another has just written.

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::{AtomicUsize, Ordering};
use unpick::thread;

struct Inner {
    owners: AtomicUsize,
    bytes: UnsafeCell<[u8; 8]>,
}

struct Owner(*mut Inner);

// SAFETY: the last owner frees what they share.
unsafe impl Send for Owner {}

impl Owner {
    fn mark(&self, index: usize) {
        // SAFETY: each owner has an element of its own.
        unsafe { (&raw mut (*(*self.0).bytes.get())[index]).write(1) };
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: there is an owner.
        if unsafe { (*self.0).owners.fetch_sub(1, Ordering::Relaxed) } == 1 {
            // SAFETY: there is none any more.
            drop(unsafe { Box::from_raw(self.0) });
        }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let inner = Inner { owners: AtomicUsize::new(2), bytes: UnsafeCell::new([0; 8]) };
        let inner = Box::into_raw(Box::new(inner));
        let (ours, theirs) = (Owner(inner), Owner(inner));
        thread::spawn(move || theirs.mark(3));
        ours.mark(4);
    }
}
