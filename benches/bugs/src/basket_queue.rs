//! The basket queue, adding to a basket that was emptied.
//!
//! Models the queue of M. Hoffman, O. Shalev and N. Shavit, "The baskets queue" (OPODIS 2007): an
//! `enqueue` that loses the race for the end of the list puts its node right there, in front of those
//! that won, in any order: they are in one basket. `dequeue` marks pointers, and moves the head later.
//!
//! Bug: the loser does not look whether the pointer is marked. It replaces a marked pointer by one that
//! is not, and the values behind it come twice. Fix: when the pointer is marked the basket is closed,
//! and the call starts again at the tail.
//!
//! Shows under SC, with 3 threads and 1 preemption. `basket_queue_large` has 5 threads, 3 that add and 2
//! that take: too many executions for all of them.

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The queue.
pub(crate) const BUG: Bug = Bug {
    name: "basket_queue",
    after: "Hoffman, Shalev and Shavit 2007",
    bug: "a node is added to a basket that was emptied",
    memory: Memory::Sc,
    threads: 3,
    preemptions: Some(1),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(100),
    exhaustible: true,
};

/// The queue with more threads and calls.
pub(crate) const LARGE: Bug = Bug {
    name: "basket_queue_large",
    threads: 5,
    program: large,
    found_within: Some(1_000),
    exhaustible: false,
    ..BUG
};

/// Where a pointer is null.
const NULL: usize = 0;

/// The mark of a pointer behind which the node was dequeued.
const MARK: usize = 1 << 16;

/// The value of a node is its number. Node 1 is in front of the first value. Nodes are not used again.
struct Queue {
    head: AtomicUsize,
    tail: AtomicUsize,
    next: [AtomicUsize; 5],
    variant: Variant,
}

impl Queue {
    fn new(variant: Variant) -> Queue {
        let next = std::array::from_fn(|_| AtomicUsize::new(NULL));
        Queue { head: AtomicUsize::new(1), tail: AtomicUsize::new(1), next, variant }
    }

    fn enqueue(&self, node: usize) {
        loop {
            let tail = self.tail.load(SeqCst);
            let next = self.next[tail].load(SeqCst);
            if tail != self.tail.load(SeqCst) {
                continue;
            }
            if next != NULL {
                self.advance(tail, next);
                continue;
            }
            self.next[node].store(NULL, SeqCst);
            if self.next[tail].compare_exchange(NULL, node, SeqCst, SeqCst).is_ok() {
                let _ = self.tail.compare_exchange(tail, node, SeqCst, SeqCst);
                return;
            }
            if self.join_basket(tail, node) {
                return;
            }
        }
    }

    /// Each value from 2 to the last was taken by somebody, or is still there, once.
    fn assert_nothing_lost(&self, mut values: Vec<usize>, last: usize) {
        while let Some(value) = self.dequeue() {
            assert!(!values.contains(&value), "{value} came twice");
            values.push(value);
        }
        values.sort_unstable();
        assert_eq!(values, Vec::from_iter(2..=last), "values were lost or came twice");
    }

    /// Puts a node into the basket behind the tail, unless the basket is closed.
    fn join_basket(&self, tail: usize, node: usize) -> bool {
        loop {
            let next = self.next[tail].load(SeqCst);
            if self.variant.is_fixed() && next & MARK != 0 {
                return false;
            }
            self.next[node].store(next & !MARK, SeqCst);
            if self.next[tail].compare_exchange(next, node, SeqCst, SeqCst).is_ok() {
                return true;
            }
        }
    }

    /// Moves the tail to the end of the list.
    fn advance(&self, tail: usize, next: usize) {
        let mut last = next & !MARK;
        loop {
            let next = self.next[last].load(SeqCst) & !MARK;
            if next == NULL || tail != self.tail.load(SeqCst) {
                break;
            }
            last = next;
        }
        let _ = self.tail.compare_exchange(tail, last, SeqCst, SeqCst);
    }

    fn dequeue(&self) -> Option<usize> {
        loop {
            let head = self.head.load(SeqCst);
            let tail = self.tail.load(SeqCst);
            let mut next = self.next[head].load(SeqCst);
            if head != self.head.load(SeqCst) {
                continue;
            }
            if head == tail {
                if next == NULL {
                    return None;
                }
                self.advance(tail, next);
                continue;
            }
            let mut node = head;
            while next & MARK != 0 && node != tail {
                node = next & !MARK;
                next = self.next[node].load(SeqCst);
            }
            if node == tail {
                let _ = self.head.compare_exchange(head, node, SeqCst, SeqCst);
            } else if self.next[node].compare_exchange(next, next | MARK, SeqCst, SeqCst).is_ok() {
                return Some(next);
            }
        }
    }
}

fn program(variant: Variant) {
    let queue = Queue::new(variant);
    let values = thread::scope(|scope| {
        let other = scope.spawn(|| queue.dequeue());
        scope.spawn(|| queue.enqueue(2));
        queue.enqueue(3);
        Vec::from_iter(other.join().unwrap())
    });
    queue.assert_nothing_lost(values, 3);
}

fn large(variant: Variant) {
    let queue = Queue::new(variant);
    let values = thread::scope(|scope| {
        let others = [(); 2].map(|()| scope.spawn(|| queue.dequeue()));
        scope.spawn(|| queue.enqueue(2));
        scope.spawn(|| queue.enqueue(4));
        queue.enqueue(3);
        others.map(|other| other.join().unwrap()).into_iter().flatten().collect()
    });
    queue.assert_nothing_lost(values, 4);
}
