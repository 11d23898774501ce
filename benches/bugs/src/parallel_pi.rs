//! Threads that add up parts of a sum.
//!
//! Models the computation of pi that is among the programs of O. Saarikivi, K. Kähkönen and K. Heljanko,
//! "Improving dynamic partial order reductions for concolic testing" (ACSD 2012).
//!
//! Bug: the total is read under the lock, and written under the lock, but the lock is given back in
//! between. Fix: keep the lock.
//!
//! Shows under SC, with 3 or 5 threads (2 take part) and 1 preemption.

use unpick::sync::Mutex;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The computation with 3 threads.
pub(crate) const BUG: Bug = Bug {
    name: "parallel_pi_3",
    after: "Saarikivi and others 2012",
    bug: "the lock is given back between reading and writing the total",
    memory: Memory::Sc,
    threads: 3,
    preemptions: Some(1),
    violation: "panic",
    program: program::<3>,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

/// The computation with 5 threads.
pub(crate) const FIVE: Bug = Bug { name: "parallel_pi_5", threads: 5, program: program::<5>, ..BUG };

const STEPS: usize = 300;

/// The part of one of some threads, in billionths.
fn part(thread: usize, threads: usize) -> u64 {
    let width = 1.0 / STEPS as f64;
    let middle = |step: usize| (step as f64 + 0.5) * width;
    let sum: f64 = (thread..STEPS).step_by(threads).map(|step| 4.0 / (1.0 + middle(step).powi(2))).sum();
    (sum * width * 1e9) as u64
}

fn program<const THREADS: usize>(variant: Variant) {
    let total = Mutex::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let total = &total;
            scope.spawn(move || {
                let part = part(thread, THREADS);
                if variant.is_fixed() {
                    *total.lock().unwrap() += part;
                } else {
                    let before = *total.lock().unwrap();
                    *total.lock().unwrap() = before + part;
                }
            });
        }
    });
    let expected: u64 = (0..THREADS).map(|thread| part(thread, THREADS)).sum();
    assert_eq!(*total.lock().unwrap(), expected, "a part was lost");
}
