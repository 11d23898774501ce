//! A reference count made by hand, as in `Arc`.
//!
//! Whoever drops the last handle frees the object. With a `Relaxed` decrement that thread has not
//! synchronised with the others, whose last uses of the object may still be under way as far as it
//! knows.
//!
//! `cargo run -p unpick --example refcount` finds the bug; with `-- fixed` at the end it holds.

mod show;

use std::process::ExitCode;

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::{AtomicUsize, Ordering};
use unpick::{Check, thread};

struct Shared {
    handles: AtomicUsize,
    value: UnsafeCell<u32>,
    /// The memory order with which a handle is given up.
    drop: Ordering,
}

struct Handle(*const Shared);

// SAFETY: the object lives as long as there are handles, and is only read meanwhile.
unsafe impl Send for Handle {}

impl Handle {
    fn new(value: u32, drop: Ordering) -> Handle {
        let shared = Shared { handles: AtomicUsize::new(1), value: UnsafeCell::new(value), drop };
        Handle(Box::into_raw(Box::new(shared)))
    }

    fn shared(&self) -> &Shared {
        // SAFETY: the object lives as long as this handle.
        unsafe { &*self.0 }
    }

    fn get(&self) -> u32 {
        // SAFETY: nobody writes while there are handles.
        self.shared().value.with(|value| unsafe { *value })
    }
}

impl Clone for Handle {
    fn clone(&self) -> Handle {
        self.shared().handles.fetch_add(1, Ordering::Relaxed);
        Handle(self.0)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let order = self.shared().drop;
        if self.shared().handles.fetch_sub(1, order) == 1 {
            // SAFETY: this was the last handle.
            drop(unsafe { Box::from_raw(self.0.cast_mut()) });
        }
    }
}

fn main() -> ExitCode {
    let fixed = std::env::args().any(|argument| argument == "fixed");
    let order = if fixed { Ordering::AcqRel } else { Ordering::Relaxed };
    show::show(&Check::new().run(move || {
        let mine = Handle::new(5, order);
        let theirs = mine.clone();
        let other = thread::spawn(move || assert_eq!(theirs.get(), 5));
        assert_eq!(mine.get(), 5);
        drop(mine);
        other.join().unwrap();
    }))
}
