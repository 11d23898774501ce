//! A queue between two threads that publishes its nodes with `Relaxed`.
//!
//! Models the motivating example of Z. Snyder, "On fuzzing concurrent programs with C++ atomics" (UC
//! Irvine 2019), chapter 3: a linked queue, and a lock and a condition only for the consumer's sleep.
//!
//! Bug: the link to a new node is stored and loaded with `Relaxed`, so that the consumer does not
//! synchronise with who wrote the element. Fix: `Release` and `Acquire`.
//!
//! Needs weak memory, with 2 threads.

use unpick::sync::atomic::{AtomicUsize, Ordering};
use unpick::sync::{Condvar, Mutex};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::plain::Plain;

/// The queue.
pub(crate) const BUG: Bug = Bug {
    name: "spsc_queue",
    after: "Snyder 2019, ch. 3",
    bug: "a node is published with `Relaxed`",
    memory: Memory::Weak,
    threads: 2,
    preemptions: None,
    violation: "data race",
    program,
    settings: defaults,
    found_within: Some(100),
    exhaustible: true,
};

const NULL: usize = usize::MAX;

struct Node {
    next: AtomicUsize,
    element: Plain<usize>,
}

/// Node 0 is in front of the first element.
struct Queue {
    nodes: [Node; 3],
    consumer_waits: Mutex<bool>,
    wake: Condvar,
    variant: Variant,
}

impl Queue {
    /// Adds an element in a node behind the last one.
    fn enqueue(&self, element: usize, node: usize) {
        let order = if self.variant.is_fixed() { Ordering::Release } else { Ordering::Relaxed };
        self.nodes[node].element.set(element);
        self.nodes[node - 1].next.store(node, order);
        let mut waits = self.consumer_waits.lock().unwrap();
        if *waits {
            *waits = false;
            self.wake.notify_one();
        }
    }

    /// The element behind a node, and its node.
    fn dequeue(&self, node: usize) -> (usize, usize) {
        let order = if self.variant.is_fixed() { Ordering::Acquire } else { Ordering::Relaxed };
        let mut next = self.nodes[node].next.load(order);
        if next == NULL {
            let mut waits = self.consumer_waits.lock().unwrap();
            if self.nodes[node].next.load(order) == NULL {
                *waits = true;
                while *waits {
                    waits = self.wake.wait(waits).unwrap();
                }
            }
            next = self.nodes[node].next.load(order);
        }
        (self.nodes[next].element.get(), next)
    }
}

fn program(variant: Variant) {
    let node = |_| Node { next: AtomicUsize::new(NULL), element: Plain::new(0) };
    let queue = Queue {
        nodes: std::array::from_fn(node),
        consumer_waits: Mutex::new(false),
        wake: Condvar::new(),
        variant,
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            queue.enqueue(10, 1);
            queue.enqueue(20, 2);
        });
        let (first, node) = queue.dequeue(0);
        let (second, _) = queue.dequeue(node);
        assert_eq!([first, second], [10, 20]);
    });
}
