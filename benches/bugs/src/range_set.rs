//! A set of ranges that loses some.
//!
//! Models what the range set of the research kernel sv6 ("crange", a development version) is reported
//! to do in J. van den Hooff, "Fast bug finding in lock-free data structures with CB-DPOR" (MIT 2014),
//! 6.1: in some interleavings elements are lost. The code is ours: a list of ranges that covers
//! everything, in which setting a part of a range splits it.
//!
//! Bug: the range to be split is looked up before the lock of its predecessor is taken, and what was
//! found is believed afterwards. If another thread has split the range meanwhile, its parts are thrown
//! away. Fix: look again under the lock, and start anew if the range is another.
//!
//! Shows under SC, with 3 threads (2 take part) and 1 preemption.

use unpick::sync::Mutex;
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The set.
pub(crate) const BUG: Bug = Bug {
    name: "range_set",
    after: "van den Hooff 2014, 6.1: a development version of crange in sv6",
    bug: "a range is split that another thread has split before",
    memory: Memory::Sc,
    threads: 3,
    preemptions: Some(1),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

/// Ranges end here.
const END: usize = 8;

/// No range.
const NONE: usize = usize::MAX;

#[derive(Default)]
struct Range {
    start: AtomicUsize,
    value: AtomicUsize,
    next: AtomicUsize,
}

/// A list of ranges, each up to the start of the next. Range 0 is the anchor, which covers nothing.
struct Ranges {
    ranges: [Range; 11],
    lock: Mutex<()>,
    variant: Variant,
}

impl Ranges {
    /// One range, with value 0.
    fn new(variant: Variant) -> Ranges {
        let set = Ranges { ranges: Default::default(), lock: Mutex::new(()), variant };
        set.write(1, 0, 0, NONE);
        set.ranges[0].next.store(1, SeqCst);
        set
    }

    fn write(&self, range: usize, start: usize, value: usize, next: usize) {
        self.ranges[range].start.store(start, SeqCst);
        self.ranges[range].value.store(value, SeqCst);
        self.ranges[range].next.store(next, SeqCst);
    }

    /// The range that covers a key, the one before, and the one behind.
    fn find(&self, key: usize) -> (usize, usize, usize) {
        let (mut previous, mut range) = (0, self.ranges[0].next.load(SeqCst));
        loop {
            let next = self.ranges[range].next.load(SeqCst);
            if next == NONE || key < self.ranges[next].start.load(SeqCst) {
                return (previous, range, next);
            }
            (previous, range) = (range, next);
        }
    }

    /// Gives `key` a value of its own. The three new ranges are the caller's.
    fn set(&self, key: usize, value: usize, new: [usize; 3]) {
        let (mut previous, mut range, mut next) = self.find(key);
        let _guard = self.lock.lock().unwrap();
        if self.variant.is_fixed() {
            (previous, range, next) = self.find(key);
        }
        let start = self.ranges[range].start.load(SeqCst);
        let old = self.ranges[range].value.load(SeqCst);
        let [before, mine, behind] = new;
        self.write(behind, key + 1, old, next);
        self.write(mine, key, value, behind);
        self.write(before, start, old, mine);
        self.ranges[previous].next.store(before, SeqCst);
    }

    fn get(&self, key: usize) -> usize {
        let (_, range, _) = self.find(key);
        self.ranges[range].value.load(SeqCst)
    }
}

fn program(variant: Variant) {
    let set = Ranges::new(variant);
    thread::scope(|scope| {
        scope.spawn(|| set.set(2, 20, [2, 3, 4]));
        scope.spawn(|| set.set(3, 30, [8, 9, 10]));
        set.set(5, 50, [5, 6, 7]);
    });
    for key in 0..END {
        let expected = [(2, 20), (3, 30), (5, 50)].iter().find(|(set, _)| *set == key).map_or(0, |&(_, value)| value);
        assert_eq!(set.get(key), expected, "the value of {key}");
    }
}
