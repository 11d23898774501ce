//! The queue of Michael and Scott, reading a value from a node that it no longer owns.
//!
//! Models the queue of M. Michael and M. Scott, "Simple, fast, and practical non-blocking and blocking
//! concurrent queue algorithms" (PODC 1996), with nodes that are used again.
//!
//! Bug: `dequeue` moves the head first and reads the value then. Meanwhile another thread may have
//! taken the next value, freed the node, and put a new value there. Fix: read the value before the
//! head is moved, as the publication says.
//!
//! Shows under SC, with 3 threads and 1 preemption. `ms_queue_large` has 5 threads, 2 that add and 3 that
//! take: too many executions for all of them.

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
    threads: 3,
    preemptions: Some(1),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(1_000),
    exhaustible: true,
};

/// The queue with more threads.
pub(crate) const LARGE: Bug = Bug {
    name: "ms_queue_large",
    threads: 5,
    program: large,
    found_within: Some(100_000),
    exhaustible: false,
    ..BUG
};

struct Queue {
    head: AtomicTagged,
    tail: AtomicTagged,
    pool: Pool<5>,
    variant: Variant,
}

impl Queue {
    /// A queue of 1 and 2, behind node 0.
    fn new(variant: Variant) -> Queue {
        let (head, tail) = (AtomicTagged::new(0), AtomicTagged::new(0));
        let queue = Queue { head, tail, pool: Pool::new(), variant };
        queue.enqueue(1, 1);
        queue.enqueue(2, 2);
        queue
    }

    /// Each value up to the last was taken by somebody, or is still there, once.
    fn assert_nothing_lost(&self, taken: Vec<Option<usize>>, last: usize) {
        let mut values: Vec<usize> = taken.into_iter().flatten().collect();
        while let Some(value) = self.dequeue() {
            values.push(value);
        }
        values.sort_unstable();
        assert_eq!(values, Vec::from_iter(1..=last), "values were lost or came twice");
    }

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
    let queue = Queue::new(variant);
    let values = thread::scope(|scope| {
        let other = scope.spawn(|| queue.dequeue());
        scope.spawn(|| queue.enqueue(3, 3));
        vec![queue.dequeue(), other.join().unwrap()]
    });
    queue.assert_nothing_lost(values, 3);
}

fn large(variant: Variant) {
    let queue = Queue::new(variant);
    let values = thread::scope(|scope| {
        let others = [(); 2].map(|()| scope.spawn(|| queue.dequeue()));
        scope.spawn(|| queue.enqueue(3, 3));
        scope.spawn(|| queue.enqueue(4, 4));
        let mine = queue.dequeue();
        others.map(|other| other.join().unwrap()).into_iter().chain([mine]).collect()
    });
    queue.assert_nothing_lost(values, 4);
}
