//! A queue that hands values over, where a producer looks once.
//!
//! Models a synchronous queue, which is among the programs of O. Saarikivi, K. Kähkönen and K. Heljanko,
//! "Improving dynamic partial order reductions for concolic testing" (ACSD 2012): `put` returns when its
//! value was taken.
//!
//! Bug: a producer that was woken does not look again whether the place is free, and overwrites the value
//! of another. Fix: `while` in place of `if`.
//!
//! Shows under SC, with 4 threads and no preemption: it depends on who goes on first.

use unpick::sync::{Condvar, Mutex};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The queue.
pub(crate) const BUG: Bug = Bug {
    name: "sync_queue",
    after: "Saarikivi and others 2012",
    bug: "a woken producer does not look again whether the place is free",
    memory: Memory::Sc,
    threads: 4,
    preemptions: Some(0),
    violation: "deadlock",
    program,
    settings: defaults,
    found_within: Some(1_000),
    exhaustible: true,
};

#[derive(Default)]
struct Place {
    value: Option<usize>,
    /// How many values were taken out.
    taken: usize,
    /// How many values were put in.
    put: usize,
}

struct Queue {
    place: Mutex<Place>,
    changed: Condvar,
    variant: Variant,
}

impl Queue {
    fn put(&self, value: usize) {
        let mut place = self.place.lock().unwrap();
        if self.variant.is_fixed() {
            while place.value.is_some() {
                place = self.changed.wait(place).unwrap();
            }
        } else if place.value.is_some() {
            place = self.changed.wait(place).unwrap();
        }
        place.value = Some(value);
        place.put += 1;
        let mine = place.put;
        self.changed.notify_all();
        while place.taken < mine {
            place = self.changed.wait(place).unwrap();
        }
    }

    fn take(&self) -> usize {
        let mut place = self.place.lock().unwrap();
        loop {
            if let Some(value) = place.value.take() {
                place.taken += 1;
                self.changed.notify_all();
                return value;
            }
            place = self.changed.wait(place).unwrap();
        }
    }
}

fn program(variant: Variant) {
    let queue = &Queue { place: Mutex::default(), changed: Condvar::new(), variant };
    let mut values = thread::scope(|scope| {
        (1..=3).for_each(|value| drop(scope.spawn(move || queue.put(value))));
        [queue.take(), queue.take(), queue.take()]
    });
    values.sort_unstable();
    assert_eq!(values, [1, 2, 3], "a value was lost or came twice");
}
