//! A reference counter with caches, which frees an object that is in use.
//!
//! Models Refcache of A. Clements, M. Kaashoek and N. Zeldovich, "RadixVM: scalable address spaces for
//! multithreaded applications" (EuroSys 2013). Each core keeps what it has added to a count, and adds
//! it to the true count once in each epoch. So the true count may be 0 while others are to add more:
//! the object is reviewed two epochs later, and freed if the count has been 0 since.
//! J. van den Hooff, "Fast bug finding in lock-free data structures with CB-DPOR" (MIT 2014), 6.1, says
//! that the published version may free an object too early.
//!
//! Bug (ours, of that kind): the review looks whether the count is 0 again, and not whether it was
//! something else in between. Fix: a mark is set where the count comes back to 0, and the review waits
//! for another two epochs.
//!
//! Shows under SC, with 2 threads, which must add in the right order in three epochs, and 1 preemption.

use unpick::sync::{Barrier, Mutex};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The counter.
pub(crate) const BUG: Bug = Bug {
    name: "reference_cache",
    after: "van den Hooff 2014, 6.1: refcache in sv6 (Clements and others 2013)",
    bug: "a count that went from 0 to 1 and back is taken for one that stayed 0",
    memory: Memory::Sc,
    threads: 2,
    preemptions: Some(1),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(10_000),
    exhaustible: true,
};

#[derive(Default)]
struct Object {
    count: i64,
    /// The epoch in which the object was put up for review.
    in_review_since: Option<usize>,
    /// Whether the count came back to 0 since then.
    dirty: bool,
    freed: bool,
}

impl Object {
    /// Adds what a core has collected.
    fn add(&mut self, delta: i64, epoch: usize) {
        self.count += delta;
        if self.count != 0 {
            return;
        }
        match self.in_review_since {
            None => (self.in_review_since, self.dirty) = (Some(epoch), false),
            Some(_) => self.dirty = true,
        }
    }

    /// Frees the object if nobody can have it.
    fn review(&mut self, epoch: usize, variant: Variant) {
        let Some(since) = self.in_review_since.filter(|since| since + 2 <= epoch) else { return };
        self.in_review_since = None;
        if self.count == 0 {
            if self.dirty && variant.is_fixed() {
                (self.in_review_since, self.dirty) = (Some(since + 2), false);
            } else {
                self.freed = true;
            }
        }
    }
}

fn program(variant: Variant) {
    let object = Mutex::new(Object { count: 1, ..Object::default() });
    let epoch_end = Barrier::new(2);
    // In each epoch one core takes a reference over from the other: the true count is never below 1.
    let core = |deltas: [i64; 3]| {
        for (epoch, delta) in deltas.into_iter().enumerate() {
            object.lock().unwrap().add(delta, epoch);
            object.lock().unwrap().review(epoch, variant);
            epoch_end.wait();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| core([-1, 1, -1]));
        core([1, -1, 1]);
    });
    let object = object.lock().unwrap();
    assert_eq!(object.count, 1, "one core has a reference");
    assert!(!object.freed, "an object was freed that a core has a reference to");
}
