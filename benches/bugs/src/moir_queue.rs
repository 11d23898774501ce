//! The queue with one test less, whose head overtakes its tail.
//!
//! Models the queue of S. Doherty, L. Groves, V. Luchangco and M. Moir, "Formal verification of a
//! practical lock-free queue algorithm" (FORTE 2004): as that of Michael and Scott, but `dequeue`
//! looks at the tail only after it has moved the head.
//!
//! Bug: it does not look at the tail at all. The tail may stay at a node that was dequeued; when the
//! node is used again, an `enqueue` links a node to one that is not in the queue. Fix: if the tail is
//! at the old head, move it before the old head is freed.
//!
//! Shows under SC, with 3 threads and 1 preemption.

use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::pool::{AtomicTagged, Pool};

/// The queue.
pub(crate) const BUG: Bug = Bug {
    name: "moir_queue",
    after: "Doherty, Groves, Luchangco and Moir 2004",
    bug: "the head overtakes the tail, and the node is used again",
    memory: Memory::Sc,
    threads: 3,
    preemptions: Some(1),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

struct Queue {
    head: AtomicTagged,
    tail: AtomicTagged,
    pool: Pool<3>,
    variant: Variant,
}

impl Queue {
    fn enqueue(&self, value: usize, new: u32) {
        let node = self.pool.take(new);
        self.pool.prepare(node, value);
        loop {
            let tail = self.tail.load();
            let next = self.pool.node(tail.node).next.load();
            if tail != self.tail.load() {
                continue;
            }
            if !next.is_null() {
                self.tail.exchange(tail, next.node);
            } else if self.pool.node(tail.node).next.exchange(next, node) {
                self.tail.exchange(tail, node);
                return;
            }
        }
    }

    fn dequeue(&self) -> Option<usize> {
        loop {
            let head = self.head.load();
            let next = self.pool.node(head.node).next.load();
            if head != self.head.load() {
                continue;
            }
            if next.is_null() {
                return None;
            }
            let value = self.pool.node(next.node).value.load(SeqCst);
            if self.head.exchange(head, next.node) {
                if self.variant.is_fixed() {
                    let tail = self.tail.load();
                    if tail.node == head.node {
                        self.tail.exchange(tail, next.node);
                    }
                }
                self.pool.give_back(head.node);
                return Some(value);
            }
        }
    }
}

fn program(variant: Variant) {
    let queue =
        Queue { head: AtomicTagged::new(0), tail: AtomicTagged::new(0), pool: Pool::new(), variant };
    let mut values = thread::scope(|scope| {
        let other = scope.spawn(|| queue.dequeue());
        scope.spawn(|| queue.enqueue(2, 2));
        queue.enqueue(1, 1);
        Vec::from_iter(other.join().unwrap())
    });
    while let Some(value) = queue.dequeue() {
        assert!(values.len() < 2, "a value came twice");
        values.push(value);
    }
    values.sort_unstable();
    assert_eq!(values, [1, 2], "a value was lost");
}
