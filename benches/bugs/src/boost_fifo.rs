//! A queue whose recycled nodes lose the tags of their pointers.
//!
//! Models the queue of Michael and Scott as a development version of Boost's lock-free library had it,
//! after J. van den Hooff, "Fast bug finding in lock-free data structures with CB-DPOR" (MIT 2014),
//! chapter 5.
//!
//! Bug: a node from the free list is constructed anew, which sets the tag of its `next` back to 0. A
//! thread that stopped before it linked its own node there, when the node was in the queue the last
//! time, then links it to a node that is not in the queue yet. Its `enqueue` returns, and a later
//! `dequeue` finds the queue empty. Fix: the pointer becomes null, and its tag stays.
//!
//! Shows under SC. `boost_fifo` is as published: 5 threads with a call each. The published execution has 3
//! preemptions, but 2 are enough: the `enqueue` in the middle need not be interrupted. `boost_fifo_small`
//! has the same calls in 2 threads, and takes 2 preemptions as well. `boost_fifo` has too many executions for
//! all of them.

use unpick::sync::atomic::AtomicBool;
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::pool::{AtomicTagged, NULL, Pool, Tagged};

/// The queue with 5 threads.
pub(crate) const BUG: Bug = Bug {
    name: "boost_fifo",
    after: "van den Hooff 2014, ch. 5: a development version of Boost's lock-free queue",
    bug: "a recycled node loses the tag of its pointer",
    memory: Memory::Sc,
    threads: 5,
    preemptions: Some(2),
    violation: "panic",
    program: five,
    settings: defaults,
    found_within: None,
    exhaustible: false,
};

/// The queue with 2 threads.
pub(crate) const SMALL: Bug = Bug {
    name: "boost_fifo_small",
    threads: 2,
    program: two,
    found_within: Some(10_000),
    exhaustible: true,
    ..BUG
};

struct Queue {
    head: AtomicTagged,
    tail: AtomicTagged,
    pool: Pool<4>,
    variant: Variant,
}

impl Queue {
    /// An empty queue; node 0 is in front of it.
    fn new(variant: Variant) -> Queue {
        Queue { head: AtomicTagged::new(0), tail: AtomicTagged::new(0), pool: Pool::new(), variant }
    }

    fn construct(&self, new: u32, value: usize) -> u32 {
        let node = self.pool.take(new);
        self.pool.prepare(node, value);
        if !self.variant.is_fixed() {
            self.pool.node(node).next.store(Tagged { node: NULL, tag: 0 });
        }
        node
    }

    /// Adds a value, in the new node unless there is a free one.
    fn enqueue(&self, value: usize, new: u32) {
        let node = self.construct(new, value);
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
            } else if !next.is_null() {
                let value = self.pool.node(next.node).value.load(SeqCst);
                if self.head.exchange(head, next.node) {
                    self.pool.give_back(head.node);
                    return Some(value);
                }
            }
        }
    }

    /// Each of 1, 2 and 3 was taken by somebody, or is still there, once.
    fn assert_nothing_lost(&self, taken: [Option<usize>; 2]) {
        let mut values: Vec<usize> = taken.into_iter().flatten().collect();
        while let Some(value) = self.dequeue() {
            values.push(value);
        }
        values.sort_unstable();
        assert_eq!(values, [1, 2, 3], "values were lost or came twice");
    }
}

fn five(variant: Variant) {
    let queue = Queue::new(variant);
    let first_is_in = AtomicBool::new(false);
    let (third, (was_in, fourth)) = thread::scope(|scope| {
        scope.spawn(|| {
            queue.enqueue(1, 1);
            first_is_in.store(true, SeqCst);
        });
        scope.spawn(|| queue.enqueue(2, 2));
        scope.spawn(|| queue.enqueue(3, 3));
        let third = scope.spawn(|| queue.dequeue());
        let fourth = scope.spawn(|| (first_is_in.load(SeqCst), queue.dequeue()));
        (third.join().unwrap(), fourth.join().unwrap())
    });
    if was_in && fourth.is_none() {
        assert_eq!(third, Some(1), "1 was in the queue, nobody took it, and the queue was empty");
    }
    queue.assert_nothing_lost([third, fourth]);
}

fn two(variant: Variant) {
    let queue = Queue::new(variant);
    let (mine, other) = thread::scope(|scope| {
        let other = scope.spawn(|| {
            queue.enqueue(2, 2);
            let value = queue.dequeue();
            queue.enqueue(3, 3);
            value
        });
        queue.enqueue(1, 1);
        (queue.dequeue(), other.join().unwrap())
    });
    if mine.is_none() {
        assert_eq!(other, Some(1), "1 was in the queue, nobody took it, and the queue was empty");
    }
    queue.assert_nothing_lost([mine, other]);
}
