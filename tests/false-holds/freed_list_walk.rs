//! violated: use after free
//!
//! A reader walks through a list of which the writer unlinks a node, and frees it at once.

use std::ptr;

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicPtr;
use unpick::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use unpick::thread;

struct Node {
    value: u64,
    next: AtomicPtr<Node>,
}

fn node(value: u64, next: *mut Node) -> *mut Node {
    Box::into_raw(Box::new(Node { value, next: AtomicPtr::new(next) }))
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let last = node(3, ptr::null_mut());
        let middle = node(2, last);
        let head = Arc::new(AtomicPtr::new(node(1, middle)));
        let theirs = head.clone();
        let reader = thread::spawn(move || {
            let (mut node, mut sum) = (theirs.load(Acquire), 0);
            while !node.is_null() {
                // SAFETY: see above.
                unsafe {
                    sum += (*node).value;
                    node = (*node).next.load(Acquire);
                }
            }
            assert!(sum == 6 || sum == 4);
        });
        // SAFETY: only this thread changes the list.
        unsafe {
            (*head.load(Relaxed)).next.store(last, Release);
            drop(Box::from_raw(middle));
        }
        reader.join().unwrap();
        // SAFETY: all others have ended.
        unsafe {

            drop(Box::from_raw(last));
            drop(Box::from_raw(head.load(Relaxed)));
        }
    }
}
