//! Peterson's lock with its two stores exchanged.
//!
//! Models G. Peterson, "Myths about the mutual exclusion problem" (IPL 1981).
//!
//! Bug: a thread lets the other go first before it says that it wants in. Fix: the other way round.
//!
//! Shows under SC, with 2 threads and 2 preemptions.

use unpick::sync::atomic::Ordering::SeqCst;
use unpick::sync::atomic::{AtomicBool, AtomicUsize};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::plain::Plain;

/// The lock.
pub(crate) const BUG: Bug = Bug {
    name: "peterson",
    after: "Peterson 1981",
    bug: "`turn` is stored before `wants`",
    memory: Memory::Sc,
    threads: 2,
    preemptions: Some(2),
    violation: "data race",
    program,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

fn program(variant: Variant) {
    let wants: [AtomicBool; 2] = Default::default();
    let turn = AtomicUsize::new(0);
    let value = Plain::new(0);
    let work = |me: usize| {
        if variant.is_fixed() {
            wants[me].store(true, SeqCst);
            turn.store(1 - me, SeqCst);
        } else {
            turn.store(1 - me, SeqCst);
            wants[me].store(true, SeqCst);
        }
        while wants[1 - me].load(SeqCst) && turn.load(SeqCst) == 1 - me {}
        value.set(value.get() + 1);
        wants[me].store(false, SeqCst);
    };
    thread::scope(|scope| {
        scope.spawn(|| work(1));
        work(0);
    });
    assert_eq!(value.get(), 2);
}
