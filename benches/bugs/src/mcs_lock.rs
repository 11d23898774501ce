//! The lock of Mellor-Crummey and Scott, which forgets a waiter.
//!
//! Models the queue lock of J. Mellor-Crummey and M. Scott, "Algorithms for scalable synchronization on
//! shared-memory multiprocessors" (TOCS 1991), with the calls of Z. Snyder, "On fuzzing concurrent
//! programs with C++ atomics" (UC Irvine 2019), 8.1: two threads take the lock twice each.
//!
//! Bug: a thread that gives the lock back and finds no successor, though the queue is not empty, leaves
//! without waiting for the successor to show up. It waits for ever. Fix: wait for it.
//!
//! Shows under SC, with 2 threads and 2 preemptions.

use unpick::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use unpick::sync::atomic::{AtomicBool, AtomicUsize};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::plain::Plain;

/// The lock.
pub(crate) const BUG: Bug = Bug {
    name: "mcs_lock",
    after: "Mellor-Crummey and Scott 1991; Snyder 2019, 8.1",
    bug: "a successor that is about to show up is forgotten",
    memory: Memory::Sc,
    threads: 2,
    preemptions: Some(2),
    violation: "livelock",
    program,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

const NULL: usize = usize::MAX;

struct Node {
    next: AtomicUsize,
    waits: AtomicBool,
}

/// Each thread has a node.
struct Lock {
    last: AtomicUsize,
    nodes: [Node; 2],
    variant: Variant,
}

impl Lock {
    fn acquire(&self, me: usize) {
        let node = &self.nodes[me];
        node.next.store(NULL, Relaxed);
        node.waits.store(true, Relaxed);
        let previous = self.last.swap(me, AcqRel);
        if previous != NULL {
            self.nodes[previous].next.store(me, Release);
            while node.waits.load(Acquire) {}
        }
    }

    fn release(&self, me: usize) {
        let mut next = self.nodes[me].next.load(Acquire);
        if next == NULL {
            if self.last.compare_exchange(me, NULL, Release, Relaxed).is_ok() {
                return;
            }
            next = self.nodes[me].next.load(Acquire);
            while self.variant.is_fixed() && next == NULL {
                next = self.nodes[me].next.load(Acquire);
            }
        }
        if next != NULL {
            self.nodes[next].waits.store(false, Release);
        }
    }
}

fn program(variant: Variant) {
    let node = |_| Node { next: AtomicUsize::new(NULL), waits: AtomicBool::new(false) };
    let lock = Lock { last: AtomicUsize::new(NULL), nodes: std::array::from_fn(node), variant };
    let value = Plain::new(0);
    let work = |me| {
        for _ in 0..2 {
            lock.acquire(me);
            value.set(value.get() + 1);
            lock.release(me);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| work(1));
        work(0);
    });
    assert_eq!(value.get(), 4);
}
