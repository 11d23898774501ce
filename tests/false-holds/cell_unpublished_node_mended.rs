//! holds
//!
//! As it should be: the node is published by a release store.

use std::ptr;

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicPtr, Ordering};
use unpick::thread;

struct Node {
    mark: UnsafeCell<u8>,
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let head = Arc::new(AtomicPtr::<Node>::new(ptr::null_mut()));
        let theirs = head.clone();
        let other = thread::spawn(move || {
            let node = Box::into_raw(Box::new(Node { mark: UnsafeCell::new(1) }));
            theirs.store(node, Ordering::Release);
        });
        let node = head.load(Ordering::Acquire);
        if !node.is_null() {
            // SAFETY: nobody else uses the node.
            unsafe { *(*node).mark.get() = 2 };
        }
        other.join().unwrap();
        // SAFETY: the other thread has ended, and the node is not used any more.
        drop(unsafe { Box::from_raw(head.load(Ordering::Relaxed)) });
    }
}
