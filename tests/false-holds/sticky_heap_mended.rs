//! holds
//!
//! As `sticky_heap`, and asks for nothing of the flag in memory from the allocator.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::hint::black_box;
use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

/// A flag in memory that the allocator was asked for.
struct Seen(*mut u64);

impl Seen {
    fn new() -> Seen {
        // SAFETY: the layout is not of size zero.
        Seen(unsafe { alloc_zeroed(Layout::new::<u64>()) }.cast())
    }

    fn set(&self) {
        // SAFETY: the block is there until the flag is dropped.
        unsafe { *self.0 = 1 };
    }

    fn get(&self) -> bool {
        // SAFETY: the block is there until the flag is dropped.
        unsafe { *self.0 == 1 }
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        // SAFETY: the block was allocated with this layout, and nobody uses it any more.
        unsafe { dealloc(self.0.cast(), Layout::new::<u64>()) };
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        let seen = black_box(Seen::new());
        while !flag.load(Acquire) {
            seen.set();
        }
        assert!(!seen.get() || flag.load(Acquire));
        other.join().unwrap();
    }
}
