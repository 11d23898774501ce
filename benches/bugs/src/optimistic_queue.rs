//! The optimistic queue, without the repair of its backward links.
//!
//! Models the queue of E. Ladan-Mozes and N. Shavit, "An optimistic approach to lock-free FIFO queues"
//! (DISC 2004): `enqueue` moves the tail with one exchange, and stores the link that `dequeue` follows
//! afterwards.
//!
//! Bug: where that link is missing yet, `dequeue` says that the queue is empty, though values that were
//! added later are in it. Fix: walk from the tail to the head, and store the missing links.
//!
//! Shows under SC, with 4 threads (2 take part) and 2 preemptions. `optimistic_queue_large` has 5
//! threads and more calls: too many executions for all of them.

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The queue.
pub(crate) const BUG: Bug = Bug {
    name: "optimistic_queue",
    after: "Ladan-Mozes and Shavit 2004",
    bug: "a missing backward link is taken for the end of the queue",
    memory: Memory::Sc,
    threads: 4,
    preemptions: Some(2),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(10_000),
    exhaustible: true,
};

/// The queue with more threads and calls.
pub(crate) const LARGE: Bug = Bug {
    name: "optimistic_queue_large",
    threads: 5,
    program: large,
    found_within: None,
    exhaustible: false,
    ..BUG
};

const NULL: usize = usize::MAX;

struct Node {
    /// The node that was added before.
    next: AtomicUsize,
    /// The node that was added after.
    previous: AtomicUsize,
}

/// The value of a node is its number. Node 0 is in front of the first value.
struct Queue {
    head: AtomicUsize,
    tail: AtomicUsize,
    nodes: [Node; 6],
    variant: Variant,
}

impl Queue {
    fn new(variant: Variant) -> Queue {
        let node = |_| Node { next: AtomicUsize::new(NULL), previous: AtomicUsize::new(NULL) };
        let (head, tail) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Queue { head, tail, nodes: std::array::from_fn(node), variant }
    }

    fn enqueue(&self, node: usize) {
        loop {
            let tail = self.tail.load(SeqCst);
            self.nodes[node].next.store(tail, SeqCst);
            if self.tail.compare_exchange(tail, node, SeqCst, SeqCst).is_ok() {
                self.nodes[tail].previous.store(node, SeqCst);
                return;
            }
        }
    }

    fn dequeue(&self) -> Option<usize> {
        loop {
            let head = self.head.load(SeqCst);
            let tail = self.tail.load(SeqCst);
            let first = self.nodes[head].previous.load(SeqCst);
            if head != self.head.load(SeqCst) {
                continue;
            }
            if head == tail {
                return None;
            }
            if first == NULL {
                if !self.variant.is_fixed() {
                    return None;
                }
                self.repair(tail, head);
            } else if self.head.compare_exchange(head, first, SeqCst, SeqCst).is_ok() {
                return Some(first);
            }
        }
    }

    /// A thread that added 3 and then took `mine` did not find the queue empty unless somebody else took
    /// 3; and each value up to the last was taken, or is still there, once.
    fn assert_right(&self, mine: Option<usize>, others: [Option<usize>; 2], last: usize) {
        let taken_by_others = others.contains(&Some(3));
        assert!(mine.is_some() || taken_by_others, "3 was there, nobody took it, and the queue was empty");
        let mut values: Vec<usize> = mine.into_iter().chain(others.into_iter().flatten()).collect();
        while let Some(value) = self.dequeue() {
            values.push(value);
        }
        values.sort_unstable();
        assert_eq!(values, Vec::from_iter(1..=last), "values were lost or came twice");
    }

    /// Stores the links between the tail and the head.
    fn repair(&self, tail: usize, head: usize) {
        let mut node = tail;
        while head == self.head.load(SeqCst) && node != head {
            let next = self.nodes[node].next.load(SeqCst);
            self.nodes[next].previous.store(node, SeqCst);
            node = next;
        }
    }
}

fn program(variant: Variant) {
    let queue = Queue::new(variant);
    let (mine, other) = thread::scope(|scope| {
        scope.spawn(|| queue.enqueue(1));
        scope.spawn(|| queue.enqueue(2));
        let other = scope.spawn(|| queue.dequeue());
        queue.enqueue(3);
        (queue.dequeue(), other.join().unwrap())
    });
    queue.assert_right(mine, [other, None], 3);
}

fn large(variant: Variant) {
    let queue = Queue::new(variant);
    let (mine, others) = thread::scope(|scope| {
        scope.spawn(|| queue.enqueue(1));
        scope.spawn(|| queue.enqueue(2));
        let dequeue_and_enqueue = |node| {
            let value = queue.dequeue();
            queue.enqueue(node);
            value
        };
        let others =
            [scope.spawn(move || dequeue_and_enqueue(4)), scope.spawn(move || dequeue_and_enqueue(5))];
        queue.enqueue(3);
        (queue.dequeue(), others.map(|other| other.join().unwrap()))
    });
    queue.assert_right(mine, others, 5);
}
