//! holds
//!
//! As it should be: one pushes, and the destructor, which runs in the thread that lets go last, empties the list.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering};
use unpick::thread;

struct List {
    open: AtomicBool,
    items: UnsafeCell<(usize, [u8; 4])>,
}

// SAFETY: one thread pushes, or should.
unsafe impl Sync for List {}
// SAFETY: as above.
unsafe impl Send for List {}

impl List {
    fn push(&self, item: u8) {
        // SAFETY: the caller says that nobody else pushes.
        let (len, items) = unsafe { &mut *self.items.get() };
        items[*len] = item;
        *len += 1;
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // SAFETY: there is nobody else.
        unsafe { *self.items.get() = (0, [0; 4]) };
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let list = Arc::new(List { open: AtomicBool::new(true), items: UnsafeCell::new((0, [0; 4])) });
        let theirs = list.clone();
        thread::spawn(move || {
            if theirs.open.load(Ordering::Relaxed) {
                theirs.push(1);
            }
        });
        list.open.store(false, Ordering::Relaxed);
    }
}
