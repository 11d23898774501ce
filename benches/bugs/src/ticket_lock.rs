//! A ticket lock that hands over without releasing.
//!
//! Models the ticket lock of J. Mellor-Crummey and M. Scott, "Algorithms for scalable synchronization on
//! shared-memory multiprocessors" (TOCS 1991).
//!
//! Bug: the next ticket is served with a `Relaxed` store. Fix: `Release`.
//!
//! Needs weak memory, with 3 threads (2 take part).

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::plain::Plain;

/// The lock.
pub(crate) const BUG: Bug = Bug {
    name: "ticket_lock",
    after: "Mellor-Crummey and Scott 1991",
    bug: "the next ticket is served with `Relaxed`",
    memory: Memory::Weak,
    threads: 3,
    preemptions: None,
    violation: "data race",
    program,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

fn program(variant: Variant) {
    let (next, served) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let value = Plain::new(0);
    let work = || {
        let ticket = next.fetch_add(1, Relaxed);
        while served.load(Acquire) != ticket {}
        value.set(value.get() + 1);
        served.store(ticket + 1, if variant.is_fixed() { Release } else { Relaxed });
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
        work();
    });
    assert_eq!(value.get(), 3);
}
