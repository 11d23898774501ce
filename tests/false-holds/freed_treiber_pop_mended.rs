//! holds
//!
//! As the other one, but one thread pops only, and the nodes are freed in the end.

use std::ptr;

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicPtr;
use unpick::sync::atomic::Ordering::{Acquire, AcqRel, Relaxed, Release};
use unpick::thread;

struct Node {
    value: u32,
    next: *mut Node,
}

struct Stack(AtomicPtr<Node>);

impl Stack {
    fn push(&self, value: u32) {
        let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
        let mut top = self.0.load(Relaxed);
        loop {
            // SAFETY: the node is not shared yet.
            unsafe { (*node).next = top };
            match self.0.compare_exchange(top, node, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    fn pop(&self) -> Option<u32> {
        loop {
            let top = self.0.load(Acquire);
            if top.is_null() {
                return None;
            }
            // SAFETY: see above.
            let next = unsafe { (*top).next };
            if self.0.compare_exchange(top, next, AcqRel, Relaxed).is_ok() {
                // SAFETY: nobody else has popped it.
                return Some(unsafe { Box::from_raw(top) }.value);
            }
        }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let stack = Arc::new(Stack(AtomicPtr::new(ptr::null_mut())));
        stack.push(1);
        let theirs = stack.clone();
        let other = thread::spawn(move || {
            theirs.push(2);
        });
        stack.pop();
        other.join().unwrap();
        while stack.pop().is_some() {}
    }
}
