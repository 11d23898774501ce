//! holds
//!
//! As the other one, but dummies are freed when the threads have ended.

use std::ptr;

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicPtr;
use unpick::sync::atomic::Ordering::{Acquire, AcqRel, Relaxed, Release};
use unpick::thread;

struct Node {
    value: u32,
    next: AtomicPtr<Node>,
}

fn node(value: u32) -> *mut Node {
    Box::into_raw(Box::new(Node { value, next: AtomicPtr::new(ptr::null_mut()) }))
}

struct Queue {
    head: AtomicPtr<Node>,
    tail: AtomicPtr<Node>,
}

impl Queue {
    fn enqueue(&self, value: u32) {
        let new = node(value);
        loop {
            let tail = self.tail.load(Acquire);
            // SAFETY: see above.
            let next = unsafe { &(*tail).next };
            match next.compare_exchange(ptr::null_mut(), new, Release, Acquire) {
                Ok(_) => {
                    let _ = self.tail.compare_exchange(tail, new, AcqRel, Relaxed);
                    return;
                }
                Err(later) => {
                    let _ = self.tail.compare_exchange(tail, later, AcqRel, Relaxed);
                }
            }
        }
    }

    fn dequeue(&self) -> Option<(u32, *mut Node)> {
        let head = self.head.load(Acquire);
        // SAFETY: only one thread dequeues.
        let next = unsafe { &(*head).next }.load(Acquire);
        if next.is_null() {
            return None;
        }
        if self.tail.load(Acquire) == head {
            let _ = self.tail.compare_exchange(head, next, AcqRel, Relaxed);
        }
        self.head.store(next, Release);
        // SAFETY: as above.
        Some((unsafe { (*next).value }, head))
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let dummy = node(0);
        let queue = Arc::new(Queue { head: AtomicPtr::new(dummy), tail: AtomicPtr::new(dummy) });
        queue.enqueue(1);
        let [theirs, others] = [queue.clone(), queue.clone()];
        let first = thread::spawn(move || theirs.enqueue(2));
        let second = thread::spawn(move || others.enqueue(3));
        let old = [queue.dequeue(), queue.dequeue()];

        first.join().unwrap();
        second.join().unwrap();
        // SAFETY: nobody has it any more.
        let _ = old.map(|old| old.map(|(_, node)| drop(unsafe { Box::from_raw(node) })));
        let mut node = queue.head.load(Acquire);
        while !node.is_null() {
            // SAFETY: all threads have ended.
            node = unsafe { Box::from_raw(node) }.next.load(Relaxed);
        }
    }
}
