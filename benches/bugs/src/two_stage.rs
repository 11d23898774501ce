//! Two variables, each with a lock, that belong together.
//!
//! Models the two-stage access of E. Farchi, Y. Nir and S. Ur, "Concurrent bug patterns and how to test
//! them" (IPDPS 2003), as in the program `twostage` of P. Thomson, A. Donaldson and A. Betts, "Concurrency
//! testing using controlled schedulers: an empirical study" (TOPC 2016).
//!
//! Bug: the first lock is given back before the second variable is written, and a reader sees the first
//! without the second. Fix: keep the first lock.
//!
//! Shows under SC, with 3 threads (2 take part) and 1 preemption.

use unpick::sync::Mutex;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The program.
pub(crate) const BUG: Bug = Bug {
    name: "two_stage",
    after: "Farchi, Nir and Ur 2003; Thomson and others 2016: twostage",
    bug: "the first lock is given back before the second variable is written",
    memory: Memory::Sc,
    threads: 3,
    preemptions: Some(1),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

fn program(variant: Variant) {
    let (first, second) = (Mutex::new(0), Mutex::new(0));
    let write = |value: usize| {
        let mut stage = first.lock().unwrap();
        *stage = value;
        let kept = variant.is_fixed().then_some(stage);
        *second.lock().unwrap() = value + 1;
        drop(kept);
    };
    let read = || {
        let value = *first.lock().unwrap();
        if value != 0 {
            let next = *second.lock().unwrap();
            assert!(next > value, "the first variable is {value}, the second {next}");
        }
    };
    thread::scope(|scope| {
        scope.spawn(move || write(1));
        scope.spawn(read);
        read();
    });
}
