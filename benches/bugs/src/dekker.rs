//! Dekker's lock with orders that are too weak.
//!
//! Models the first solution for two threads, by T. Dekker, as in E. Dijkstra, "Cooperating sequential
//! processes" (1965).
//!
//! Bug: flags are stored with `Release` and loaded with `Acquire`. Both threads may store their flag and
//! miss that of the other. Fix: `SeqCst`.
//!
//! Needs weak memory (TSO is enough), with 2 threads.

use unpick::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use unpick::sync::atomic::{AtomicBool, AtomicUsize};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::plain::Plain;

/// The lock.
pub(crate) const BUG: Bug = Bug {
    name: "dekker",
    after: "Dijkstra 1965",
    bug: "flags are stored with `Release` and loaded with `Acquire`",
    memory: Memory::Weak,
    threads: 2,
    preemptions: None,
    violation: "data race",
    program,
    settings: defaults,
    found_within: Some(100),
    exhaustible: true,
};

#[derive(Default)]
struct Lock {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
}

impl Lock {
    fn acquire(&self, me: usize, variant: Variant) {
        let (load, store) = if variant.is_fixed() { (SeqCst, SeqCst) } else { (Acquire, Release) };
        self.wants[me].store(true, store);
        while self.wants[1 - me].load(load) {
            if self.turn.load(load) != me {
                self.wants[me].store(false, store);
                while self.turn.load(load) != me {}
                self.wants[me].store(true, store);
            }
        }
    }

    fn release(&self, me: usize, variant: Variant) {
        let store = if variant.is_fixed() { SeqCst } else { Release };
        self.turn.store(1 - me, store);
        self.wants[me].store(false, store);
    }
}

fn program(variant: Variant) {
    let lock = Lock::default();
    let value = Plain::new(0);
    let work = |me| {
        lock.acquire(me, variant);
        value.set(value.get() + 1);
        lock.release(me, variant);
    };
    thread::scope(|scope| {
        scope.spawn(|| work(1));
        work(0);
    });
    assert_eq!(value.get(), 2);
}
