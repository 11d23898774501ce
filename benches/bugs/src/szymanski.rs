//! Szymanski's lock, without the wait for those who came first.
//!
//! Models the algorithm of B. Szymanski, "A simple solution to Lamport's concurrent programming problem
//! with linear wait" (ICS 1988), which is among the programs of O. Saarikivi and K. Heljanko,
//! "Reporting races in dynamic partial order reduction" (NFM 2015). Each thread tells the others how
//! far it is: 1 wants in, 2 waits for others at the door, 3 is in the doorway, 4 is behind the door.
//!
//! Bug: a thread behind the door does not wait for those with lower numbers, and two are in the critical
//! section. Fix: wait until they are outside.
//!
//! Shows under SC, with 3 threads (2 take part) and 1 preemption.

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::plain::Plain;

/// The lock.
pub(crate) const BUG: Bug = Bug {
    name: "szymanski",
    after: "Szymanski 1988; Saarikivi and Heljanko 2015",
    bug: "who is behind the door does not wait for lower numbers",
    memory: Memory::Sc,
    threads: THREADS,
    preemptions: Some(1),
    violation: "data race",
    program,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

const THREADS: usize = 3;

struct Lock {
    flags: [AtomicUsize; THREADS],
    variant: Variant,
}

impl Lock {
    fn set(&self, me: usize, flag: usize) {
        self.flags[me].store(flag, SeqCst);
    }

    fn all(&self, range: std::ops::Range<usize>, good: impl Fn(usize) -> bool) -> bool {
        self.flags[range].iter().all(|flag| good(flag.load(SeqCst)))
    }

    fn acquire(&self, me: usize) {
        self.set(me, 1);
        while !self.all(0..THREADS, |flag| flag < 3) {}
        self.set(me, 3);
        if !self.all(0..THREADS, |flag| flag != 1) {
            self.set(me, 2);
            while self.all(0..THREADS, |flag| flag != 4) {}
        }
        self.set(me, 4);
        if self.variant.is_fixed() {
            while !self.all(0..me, |flag| flag < 2) {}
        }
    }

    fn release(&self, me: usize) {
        while !self.all(me + 1..THREADS, |flag| flag < 2 || flag == 4) {}
        self.set(me, 0);
    }
}

fn program(variant: Variant) {
    let lock = Lock { flags: Default::default(), variant };
    let value = Plain::new(0);
    let work = |me| {
        lock.acquire(me);
        value.set(value.get() + 1);
        lock.release(me);
    };
    thread::scope(|scope| {
        (1..THREADS).for_each(|me| drop(scope.spawn(move || work(me))));
        work(0);
    });
    assert_eq!(value.get(), THREADS);
}
