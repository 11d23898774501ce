//! A stack without locks, after Treiber.
//!
//! `pop` frees the node that it has taken off. Another thread may have read the same head just
//! before, and is about to look at its `next`: it uses memory that has been freed. And where the
//! allocator hands the memory out again, the exchange may succeed on a node that only looks the
//! same (the ABA problem). The fix keeps nodes until nobody can be looking.
//!
//! `cargo run -p unpick --example treiber` finds the bug; with `-- fixed` at the end it holds.

mod show;

use std::process::ExitCode;
use std::ptr;

use unpick::sync::atomic::{AtomicPtr, Ordering};
use unpick::sync::{Arc, Mutex};
use unpick::{Check, thread};

struct Node {
    item: u32,
    next: AtomicPtr<Node>,
}

struct Stack {
    head: AtomicPtr<Node>,
    /// Nodes that were popped, freed with the stack.
    retired: Mutex<Vec<*mut Node>>,
    /// Whether `pop` frees nodes at once.
    hasty: bool,
}

// SAFETY: nodes are handed from thread to thread with their items, which are plain numbers.
unsafe impl Send for Stack {}
// SAFETY: as above.
unsafe impl Sync for Stack {}

impl Stack {
    fn new(hasty: bool) -> Stack {
        Stack { head: AtomicPtr::new(ptr::null_mut()), retired: Mutex::new(Vec::new()), hasty }
    }

    fn push(&self, item: u32) {
        let node = Box::into_raw(Box::new(Node { item, next: AtomicPtr::new(ptr::null_mut()) }));
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: the node is ours until the exchange succeeds.
            unsafe { &*node }.next.store(head, Ordering::Relaxed);
            match self.head.compare_exchange(head, node, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    fn pop(&self) -> Option<u32> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            // SAFETY: true only if nobody frees the node meanwhile.
            let next = unsafe { head.as_ref() }?.next.load(Ordering::Relaxed);
            match self.head.compare_exchange(head, next, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
        // SAFETY: the node was taken off by this thread alone.
        let item = unsafe { &*head }.item;
        if self.hasty {
            // SAFETY: claimed, and wrong: another `pop` may be about to read `next`.
            drop(unsafe { Box::from_raw(head) });
        } else {
            self.retired.lock().unwrap().push(head);
        }
        Some(item)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        while self.pop().is_some() {}
        for node in self.retired.get_mut().unwrap().drain(..) {
            // SAFETY: the stack is not shared any more.
            drop(unsafe { Box::from_raw(node) });
        }
    }
}

fn main() -> ExitCode {
    let fixed = std::env::args().any(|argument| argument == "fixed");
    show::show(&Check::new().run(move || {
        let stack = Arc::new(Stack::new(!fixed));
        stack.push(1);
        stack.push(2);
        let theirs = Arc::clone(&stack);
        let other = thread::spawn(move || theirs.pop());
        let mine = stack.pop();
        assert_ne!(mine, other.join().unwrap());
    }))
}
