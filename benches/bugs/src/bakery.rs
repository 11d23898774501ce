//! Lamport's bakery, where nobody says that he is about to take a number.
//!
//! Models L. Lamport, "A new solution of Dijkstra's concurrent programming problem" (CACM 1974).
//!
//! Bug: the flag `choosing` is missing. A thread that has not stored its number yet is passed by one with
//! the same number, and then does not wait since its own index is lower. Fix: the flag.
//!
//! Shows under SC, with 2 threads and 2 preemptions.

use unpick::sync::atomic::Ordering::SeqCst;
use unpick::sync::atomic::{AtomicBool, AtomicUsize};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::plain::Plain;

/// The lock.
pub(crate) const BUG: Bug = Bug {
    name: "bakery",
    after: "Lamport 1974",
    bug: "the flag `choosing` is missing",
    memory: Memory::Sc,
    threads: 2,
    preemptions: Some(2),
    violation: "data race",
    program,
    settings: defaults,
    found_within: Some(100),
    exhaustible: true,
};

#[derive(Default)]
struct Lock {
    choosing: [AtomicBool; 2],
    numbers: [AtomicUsize; 2],
}

impl Lock {
    fn acquire(&self, me: usize, variant: Variant) {
        let other = 1 - me;
        if variant.is_fixed() {
            self.choosing[me].store(true, SeqCst);
        }
        let number = self.numbers[other].load(SeqCst) + 1;
        self.numbers[me].store(number, SeqCst);
        if variant.is_fixed() {
            self.choosing[me].store(false, SeqCst);
            while self.choosing[other].load(SeqCst) {}
        }
        loop {
            let theirs = self.numbers[other].load(SeqCst);
            if theirs == 0 || (number, me) < (theirs, other) {
                return;
            }
        }
    }
}

fn program(variant: Variant) {
    let lock = Lock::default();
    let value = Plain::new(0);
    let work = |me: usize| {
        lock.acquire(me, variant);
        value.set(value.get() + 1);
        lock.numbers[me].store(0, SeqCst);
    };
    thread::scope(|scope| {
        scope.spawn(|| work(1));
        work(0);
    });
    assert_eq!(value.get(), 2);
}
