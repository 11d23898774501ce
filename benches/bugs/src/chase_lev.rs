//! A work-stealing deque that publishes its larger array too early.
//!
//! Models the deque of D. Chase and Y. Lev, "Dynamic circular work-stealing deque" (SPAA 2005), in the
//! form with C11 atomics of N. Lê, A. Pop, A. Cohen and F. Zappa Nardelli, "Correct and efficient
//! work-stealing for weak memory models" (PPoPP 2013), whose growing was found wrong by B. Norris and
//! B. Demsky, "CDSChecker" (OOPSLA 2013); also in Z. Snyder, "On fuzzing concurrent programs with C++
//! atomics" (UC Irvine 2019), 8.1, with the same calls: three pushes, two takes, one steal.
//!
//! Bug: the pointer to the larger array is stored with `Relaxed`, and a thief may see it before the
//! elements that were copied. Fix: `Release`, and `Acquire` in the thief.
//!
//! Needs weak memory, with 2 threads.

use unpick::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use unpick::sync::atomic::{AtomicIsize, AtomicUsize, fence};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The deque.
pub(crate) const BUG: Bug = Bug {
    name: "chase_lev",
    after: "Norris and Demsky 2013, on Lê and others 2013; Snyder 2019, 8.1",
    bug: "the larger array is published with `Relaxed`",
    memory: Memory::Weak,
    threads: 2,
    preemptions: None,
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(100),
    exhaustible: true,
};

struct Deque {
    top: AtomicIsize,
    bottom: AtomicIsize,
    /// Which array is in use.
    array: AtomicUsize,
    /// Arrays for two and for four elements. A 0 was never written.
    arrays: [Vec<AtomicUsize>; 2],
    variant: Variant,
}

impl Deque {
    fn new(variant: Variant) -> Deque {
        let arrays = [2, 4].map(|size| (0..size).map(|_| AtomicUsize::new(0)).collect());
        let (top, bottom) = (AtomicIsize::new(0), AtomicIsize::new(0));
        Deque { top, bottom, array: AtomicUsize::new(0), arrays, variant }
    }

    fn slot(&self, array: usize, index: isize) -> &AtomicUsize {
        let array = &self.arrays[array];
        &array[index as usize % array.len()]
    }

    fn push(&self, value: usize) {
        let bottom = self.bottom.load(Relaxed);
        let top = self.top.load(Acquire);
        let mut array = self.array.load(Relaxed);
        if bottom - top >= self.arrays[array].len() as isize {
            for index in top..bottom {
                self.slot(array + 1, index).store(self.slot(array, index).load(Relaxed), Relaxed);
            }
            array += 1;
            self.array.store(array, if self.variant.is_fixed() { Release } else { Relaxed });
        }
        self.slot(array, bottom).store(value, Relaxed);
        fence(Release);
        self.bottom.store(bottom + 1, Relaxed);
    }

    fn take(&self) -> Option<usize> {
        let bottom = self.bottom.load(Relaxed) - 1;
        let array = self.array.load(Relaxed);
        self.bottom.store(bottom, Relaxed);
        fence(SeqCst);
        let top = self.top.load(Relaxed);
        if top > bottom {
            self.bottom.store(bottom + 1, Relaxed);
            return None;
        }
        let value = self.slot(array, bottom).load(Relaxed);
        if top < bottom {
            return Some(value);
        }
        let won = self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
        self.bottom.store(bottom + 1, Relaxed);
        won.then_some(value)
    }

    fn steal(&self) -> Option<usize> {
        let top = self.top.load(Acquire);
        fence(SeqCst);
        let bottom = self.bottom.load(Acquire);
        if top >= bottom {
            return None;
        }
        let array = self.array.load(if self.variant.is_fixed() { Acquire } else { Relaxed });
        let value = self.slot(array, top).load(Relaxed);
        self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).ok().map(|_| value)
    }
}

fn program(variant: Variant) {
    let deque = Deque::new(variant);
    let mut values = thread::scope(|scope| {
        let thief = scope.spawn(|| deque.steal());
        (1..=3).for_each(|value| deque.push(value));
        let mine = [deque.take(), deque.take()];
        let stolen = thief.join().unwrap();
        Vec::from_iter(mine.into_iter().chain([stolen]).flatten())
    });
    values.extend(deque.take());
    values.sort_unstable();
    assert_eq!(values, [1, 2, 3], "values were lost, came twice, or were read before they were written");
}
