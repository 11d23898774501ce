//! Philosophers who share forks.
//!
//! Models E. Dijkstra, "Hierarchical ordering of sequential processes" (1971): five of them.
//!
//! Bug: each takes the fork at the left first, and when all have done so nobody gets a second. Fix: the
//! fork with the lower number first.
//!
//! Shows under SC, with 5 threads and 4 preemptions.

use unpick::sync::Mutex;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The philosophers.
pub(crate) const BUG: Bug = Bug {
    name: "philosophers",
    after: "Dijkstra 1971",
    bug: "each takes the left fork first",
    memory: Memory::Sc,
    threads: SEATS,
    preemptions: Some(SEATS - 1),
    violation: "deadlock",
    program,
    settings: defaults,
    found_within: Some(100),
    exhaustible: true,
};

const SEATS: usize = 5;

fn program(variant: Variant) {
    let forks: [Mutex<usize>; SEATS] = Default::default();
    let dine = |seat: usize| {
        let (left, right) = (seat, (seat + 1) % SEATS);
        let (first, second) = match variant {
            Variant::Buggy => (left, right),
            Variant::Fixed => (left.min(right), left.max(right)),
        };
        let mut first = forks[first].lock().unwrap();
        let mut second = forks[second].lock().unwrap();
        *first += 1;
        *second += 1;
    };
    thread::scope(|scope| {
        (1..SEATS).for_each(|seat| drop(scope.spawn(move || dine(seat))));
        dine(0);
    });
    assert!(forks.into_iter().all(|fork| fork.into_inner().unwrap() == 2), "everybody has eaten");
}
