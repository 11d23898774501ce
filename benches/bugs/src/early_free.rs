//! A stack that frees what it pops at once.
//!
//! Models the stack of R. Treiber (IBM 1986) with nodes from the heap, and the problem that M. Michael,
//! "Hazard pointers: safe memory reclamation for lock-free objects" (TPDS 2004), starts from.
//!
//! Bug: who pops a node frees it, while another who has read the same top is about to read its link. Fix:
//! the simplest there is, nodes are not freed; so leaks are no violation here.
//!
//! Shows under SC, with 2 threads and 1 preemption.

use std::ptr;

use unpick::Check;
use unpick::sync::atomic::AtomicPtr;
use unpick::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant};

/// The stack.
pub(crate) const BUG: Bug = Bug {
    name: "early_free",
    after: "Treiber 1986; Michael 2004",
    bug: "a node is freed while another thread reads it",
    memory: Memory::Sc,
    threads: 2,
    preemptions: Some(1),
    violation: "use after free",
    program,
    settings,
    found_within: Some(10),
    exhaustible: true,
};

fn settings(check: Check) -> Check {
    check.leaks(false)
}

struct Node {
    value: usize,
    next: AtomicPtr<Node>,
}

struct Stack {
    top: AtomicPtr<Node>,
    variant: Variant,
}

impl Stack {
    fn push(&self, value: usize) {
        let next = AtomicPtr::new(ptr::null_mut());
        let node = Box::into_raw(Box::new(Node { value, next }));
        loop {
            let top = self.top.load(Relaxed);
            // SAFETY: the node is not in the stack yet, so nobody has freed it.
            unsafe { (*node).next.store(top, Relaxed) };
            if self.top.compare_exchange(top, node, AcqRel, Relaxed).is_ok() {
                return;
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        loop {
            let top = self.top.load(Acquire);
            if top.is_null() {
                return None;
            }
            // SAFETY: there is none in the buggy form, which is the bug: the check stops at the access.
            // In the fixed form nodes are not freed.
            let next = unsafe { (*top).next.load(Relaxed) };
            if self.top.compare_exchange(top, next, AcqRel, Relaxed).is_ok() {
                // SAFETY: only who has taken the node off frees it, below.
                let value = unsafe { (*top).value };
                if !self.variant.is_fixed() {
                    // SAFETY: the node came from a box, and only one thread has taken it off.
                    drop(unsafe { Box::from_raw(top) });
                }
                return Some(value);
            }
        }
    }
}

fn program(variant: Variant) {
    let stack = Stack { top: AtomicPtr::new(ptr::null_mut()), variant };
    stack.push(1);
    stack.push(2);
    let mut values = thread::scope(|scope| {
        let other = scope.spawn(|| stack.pop());
        [stack.pop(), other.join().unwrap()]
    });
    values.sort_unstable();
    assert_eq!(values, [Some(1), Some(2)], "a value was lost or came twice");
}
