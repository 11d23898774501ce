//! A reference count whose last owner does not see what the others did.
//!
//! Models the count of `Arc`, after the Rustonomicon, "Implementing Arc and Mutex".
//!
//! Bug: the count is taken down with `Relaxed`, and the last owner frees what another has written to without
//! having synchronised with it. Fix: `Release`, and an `Acquire` fence for the last.
//!
//! Needs weak memory, with 3 threads (2 take part).

use unpick::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use unpick::sync::atomic::{AtomicUsize, fence};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::plain::Plain;

/// The count.
pub(crate) const BUG: Bug = Bug {
    name: "last_drop",
    after: "the Rustonomicon, on Arc",
    bug: "the count is taken down with `Relaxed`",
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
    let count = AtomicUsize::new(3);
    let contents = Plain::new(7);
    let use_and_drop = || {
        assert_eq!(contents.get(), 7, "the contents were freed");
        let order = if variant.is_fixed() { Release } else { Relaxed };
        if count.fetch_sub(1, order) == 1 {
            if variant.is_fixed() {
                fence(Acquire);
            }
            contents.set(0);
        }
    };
    thread::scope(|scope| {
        scope.spawn(use_and_drop);
        scope.spawn(use_and_drop);
        use_and_drop();
    });
}
