//! A barrier that orders nothing.
//!
//! Models a spinning barrier, after Z. Snyder, "On fuzzing concurrent programs with C++ atomics" (UC
//! Irvine 2019), 8.1, where it comes from the benchmarks of CDSChecker. One thread writes before the
//! barrier, the others read behind it.
//!
//! Bug: arriving and leaving are `Relaxed`, so nothing before the barrier happens before what is behind
//! it. Fix: arriving is `AcqRel`, the last one releases, and the others acquire.
//!
//! Needs weak memory, with 4 threads.

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::plain::Plain;

/// The barrier.
pub(crate) const BUG: Bug = Bug {
    name: "barrier",
    after: "Snyder 2019, 8.1, and CDSChecker",
    bug: "arriving and leaving are `Relaxed`",
    memory: Memory::Weak,
    threads: 4,
    preemptions: None,
    violation: "data race",
    program,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

const THREADS: usize = 4;

struct Barrier {
    waiting: AtomicUsize,
    round: AtomicUsize,
    variant: Variant,
}

impl Barrier {
    fn wait(&self) {
        let [arrive, load, store] =
            if self.variant.is_fixed() { [AcqRel, Acquire, Release] } else { [Relaxed; 3] };
        let round = self.round.load(load);
        if self.waiting.fetch_add(1, arrive) + 1 == THREADS {
            self.waiting.store(0, Relaxed);
            self.round.store(round + 1, store);
        } else {
            while self.round.load(load) == round {}
        }
    }
}

fn program(variant: Variant) {
    let barrier = Barrier { waiting: AtomicUsize::new(0), round: AtomicUsize::new(0), variant };
    let value = Plain::new(0);
    thread::scope(|scope| {
        for _ in 1..THREADS {
            scope.spawn(|| {
                barrier.wait();
                assert_eq!(value.get(), 1);
            });
        }
        value.set(1);
        barrier.wait();
    });
}
