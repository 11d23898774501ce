//! A sequence lock whose reader has no fence.
//!
//! Models H. Boehm, "Can seqlocks get along with programming language memory models?" (MSPC 2012).
//!
//! Bug: nothing keeps the second look at the number behind the reads of the data; it may be older than
//! they are, and a torn value is believed. Fix: an `Acquire` fence in between.
//!
//! Needs weak memory, with 2 threads.

use unpick::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use unpick::sync::atomic::{AtomicUsize, fence};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The lock.
pub(crate) const BUG: Bug = Bug {
    name: "seqlock",
    after: "Boehm 2012",
    bug: "no `Acquire` fence before the second look at the number",
    memory: Memory::Weak,
    threads: 2,
    preemptions: None,
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(1_000),
    exhaustible: true,
};

fn program(variant: Variant) {
    let number = AtomicUsize::new(0);
    let halves: [AtomicUsize; 2] = Default::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            for value in 1..=2 {
                let before = number.load(Relaxed);
                number.store(before + 1, Relaxed);
                fence(Release);
                halves.iter().for_each(|half| half.store(value, Relaxed));
                number.store(before + 2, Release);
            }
        });
        let before = number.load(Acquire);
        let [low, high] = [0, 1].map(|half: usize| halves[half].load(Relaxed));
        if variant.is_fixed() {
            fence(Acquire);
        }
        let after = number.load(Relaxed);
        if before == after && before.is_multiple_of(2) {
            assert_eq!(low, high, "a torn value was believed");
        }
    });
}
