//! A queue between two threads that publishes its nodes with `Relaxed`.
//!
//! Models the motivating example of Z. Snyder, "On fuzzing concurrent programs with C++ atomics" (UC
//! Irvine 2019), chapter 3: a linked queue, and a lock and a condition only for the consumer's sleep.
//!
//! `spsc_queue`. Bug: the link to a new node is stored and loaded with `Relaxed`, so that the consumer does
//! not synchronise with who wrote the element. Fix: `Release` and `Acquire`, as published. Needs weak
//! memory, with 2 threads.
//!
//! `spsc_queue_wakeup`. Bug: the published fix is not enough when a second element follows. The producer
//! stores a link, and looks whether the consumer waits only then; meanwhile the consumer may have taken
//! the element and wait for the next, so that it is woken without one. Fix: look again, and wait again.
//! Shows under SC, with 2 threads and 3 preemptions.

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
    found_within: Some(10),
    exhaustible: true,
};

/// The queue with the right orders, and the consumer as it was published.
pub(crate) const WAKEUP: Bug = Bug {
    name: "spsc_queue_wakeup",
    bug: "a consumer that was woken does not look again",
    memory: Memory::Sc,
    preemptions: Some(3),
    violation: "panic",
    program: wakeup,
    ..BUG
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
    /// Whether links are published.
    publishes: bool,
    /// Whether a consumer that was woken looks again.
    looks_again: bool,
}

impl Queue {
    /// Adds an element in a node behind the last one.
    fn enqueue(&self, element: usize, node: usize) {
        let order = if self.publishes { Ordering::Release } else { Ordering::Relaxed };
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
        let order = if self.publishes { Ordering::Acquire } else { Ordering::Relaxed };
        let link = &self.nodes[node].next;
        let mut next = link.load(order);
        if next == NULL {
            let mut waits = self.consumer_waits.lock().unwrap();
            next = link.load(order);
            while next == NULL {
                *waits = true;
                while *waits {
                    waits = self.wake.wait(waits).unwrap();
                }
                next = link.load(order);
                if !self.looks_again {
                    break;
                }
            }
        }
        assert_ne!(next, NULL, "woken without an element");
        (self.nodes[next].element.get(), next)
    }
}

fn program(variant: Variant) {
    run(variant.is_fixed(), true);
}

fn wakeup(variant: Variant) {
    run(true, variant.is_fixed());
}

fn run(publishes: bool, looks_again: bool) {
    let node = |_| Node { next: AtomicUsize::new(NULL), element: Plain::new(0) };
    let queue = Queue {
        nodes: std::array::from_fn(node),
        consumer_waits: Mutex::new(false),
        wake: Condvar::new(),
        publishes,
        looks_again,
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
