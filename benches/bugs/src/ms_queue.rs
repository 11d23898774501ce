//! The queue of Michael and Scott, reading a value from a node that it no longer owns.
//!
//! Models the queue of M. Michael and M. Scott, "Simple, fast, and practical non-blocking and blocking
//! concurrent queue algorithms" (PODC 1996), with nodes that are used again.
//!
//! Bug: `dequeue` moves the head first and reads the value then. Meanwhile another thread may have
//! taken the next value, freed the node, and put a new value there. Fix: read the value before the
//! head is moved, as the publication says.
//!
//! Shows under SC, with 2 threads and 1 preemption.

use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::pool::{AtomicTagged, Pool};

/// The queue.
pub(crate) const BUG: Bug = Bug {
    name: "ms_queue",
    after: "Michael and Scott 1996",
    bug: "the value is read after the head was moved",
    memory: Memory::Sc,
    threads: 2,
    preemptions: Some(1),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(1_000),
    exhaustible: true,
};

struct Queue {
    head: AtomicTagged,
    tail: AtomicTagged,
    pool: Pool<4>,
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
            let tail = self.tail.load();
            let next = self.pool.node(head.node).next.load();
            if head != self.head.load() {
                continue;
            }
            if head.node == tail.node {
                if next.is_null() {
                    return None;
                }
                self.tail.exchange(tail, next.node);
                continue;
            }
            let value = || self.pool.node(next.node).value.load(SeqCst);
            let early = self.variant.is_fixed().then(value);
            if self.head.exchange(head, next.node) {
                let value = early.unwrap_or_else(value);
                self.pool.give_back(head.node);
                return Some(value);
            }
        }
    }
}

fn program(variant: Variant) {
    let queue =
        Queue { head: AtomicTagged::new(0), tail: AtomicTagged::new(0), pool: Pool::new(), variant };
    queue.enqueue(1, 1);
    queue.enqueue(2, 2);
    let mut values = thread::scope(|scope| {
        let other = scope.spawn(|| {
            let value = queue.dequeue();
            queue.enqueue(3, 3);
            value
        });
        let mine = queue.dequeue();
        vec![mine, other.join().unwrap()]
    });
    values.push(queue.dequeue());
    values.sort_unstable();
    assert_eq!(values, [Some(1), Some(2), Some(3)], "values were lost or came twice");
}
