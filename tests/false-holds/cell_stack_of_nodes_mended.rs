//! holds
//!
//! As it should be: the link of a node is written before it is published.

use std::ptr;

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicPtr, Ordering};
use unpick::thread;

struct Node {
    next: UnsafeCell<*mut Node>,
    value: u32,
}

struct Stack(AtomicPtr<Node>);

impl Stack {
    fn push(&self, value: u32, mark: usize) {
        let node = Box::into_raw(Box::new(Node { next: UnsafeCell::new(ptr::null_mut()), value }));
        loop {
            let head = self.0.load(Ordering::Acquire);
            // SAFETY: the node is not published.
            unsafe { *(*node).next.get() = head.map_addr(|head| head | mark) };
            if self.0.compare_exchange(head, node, Ordering::Release, Ordering::Relaxed).is_ok() {
                break;
            }
        }
    }

    /// Marks the link of the first node.
    fn mark(&self, mark: usize) {
        let head = self.0.load(Ordering::Acquire);
        if !head.is_null() {
            // SAFETY: the node is there until the end.
            let link = unsafe { (*head).next.get() };
            // SAFETY: as above.
            unsafe { *link = (*link).map_addr(|next| next | mark) };
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let mut node = *self.0.get_mut();
        while !node.is_null() {
            // SAFETY: nobody else has the nodes.
            let owned = unsafe { Box::from_raw(node) };
            node = owned.next.into_inner().map_addr(|next| next & !7);
            assert!(owned.value > 0);
        }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let stack = Arc::new(Stack(AtomicPtr::new(ptr::null_mut())));
        stack.mark(1);
        stack.push(1, 0);
        let theirs = stack.clone();
        let other = thread::spawn(move || theirs.push(2, 1));
        stack.push(3, 2);
        other.join().unwrap();
    }
}
