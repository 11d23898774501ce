//! A skip list whose `add` erases the mark of a `remove`.
//!
//! Models the lock-free skip list of M. Herlihy and N. Shavit, "The Art of Multiprocessor Programming"
//! (2008), 14.4, with two levels. A node is in the set when the lower level has it. A node that is
//! removed gets its pointers marked, from the top down; `find` takes marked nodes out.
//!
//! Bug: after it has linked the lower level, `add` stores the pointer of the upper level. If the node
//! was removed meanwhile this erases its mark, so that the node is linked at the upper level for good,
//! and searches go through it into a part of the lower level that is gone. Fix: exchange the pointer,
//! and give up when it has been marked.
//!
//! Shows under SC, with 3 threads and 2 preemptions. `skip_list_large` has 5 threads: too many
//! executions for all of them.

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The skip list.
pub(crate) const BUG: Bug = Bug {
    name: "skip_list",
    after: "Herlihy and Shavit 2008, 14.4",
    bug: "linking the upper level erases the mark of a removed node",
    memory: Memory::Sc,
    threads: 3,
    preemptions: Some(2),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(1_000),
    exhaustible: true,
};

/// The list with more threads and calls.
pub(crate) const LARGE: Bug = Bug {
    name: "skip_list_large",
    threads: 5,
    program: large,
    found_within: None,
    exhaustible: false,
    ..BUG
};

/// The mark of a pointer of a node that is removed.
const MARK: usize = 1 << 16;

/// The last node; node 0 is the first, and the key of a node is its number.
const LAST: usize = 6;

struct Set {
    /// Pointers of each node, for each level.
    next: [[AtomicUsize; 2]; LAST],
    variant: Variant,
}

/// The nodes before and behind a place, for each level.
type Place = [(usize, usize); 2];

impl Set {
    /// The set with key 3, on the lower level.
    fn new(variant: Variant) -> Set {
        let next = std::array::from_fn(|_| std::array::from_fn(|_| AtomicUsize::new(LAST)));
        let set = Set { next, variant };
        set.next[0][0].store(3, SeqCst);
        set
    }

    fn exchange(&self, node: usize, level: usize, old: usize, new: usize) -> bool {
        self.next[node][level].compare_exchange(old, new, SeqCst, SeqCst).is_ok()
    }

    /// The place of a key. Marked nodes on the way are taken out.
    fn find(&self, key: usize) -> Place {
        'again: loop {
            let mut place = [(0, LAST); 2];
            let mut previous = 0;
            for level in [1, 0] {
                let mut node = self.next[previous][level].load(SeqCst) & !MARK;
                while node != LAST {
                    let next = self.next[node][level].load(SeqCst);
                    if next & MARK != 0 {
                        if !self.exchange(previous, level, node, next & !MARK) {
                            continue 'again;
                        }
                        node = next & !MARK;
                    } else if node < key {
                        previous = node;
                        node = next;
                    } else {
                        break;
                    }
                }
                place[level] = (previous, node);
            }
            return place;
        }
    }

    /// Adds a key; on both levels if `tall`.
    fn add(&self, key: usize, tall: bool) {
        loop {
            let [(previous, node), (_, upper)] = self.find(key);
            self.next[key][0].store(node, SeqCst);
            self.next[key][1].store(upper, SeqCst);
            if self.exchange(previous, 0, node, key) {
                break;
            }
        }
        if tall {
            self.link_upper(key);
        }
    }

    /// Links the upper level of a node that is in the lower one.
    fn link_upper(&self, key: usize) {
        loop {
            let [(_, lower), (previous, node)] = self.find(key);
            let old = self.next[key][1].load(SeqCst);
            if lower != key || old & MARK != 0 {
                return;
            }
            if self.variant.is_fixed() {
                if !self.exchange(key, 1, old, node) {
                    return;
                }
            } else {
                self.next[key][1].store(node, SeqCst);
            }
            if self.exchange(previous, 1, node, key) {
                return;
            }
        }
    }

    fn remove(&self, key: usize) -> bool {
        let [(_, node), _] = self.find(key);
        if node != key {
            return false;
        }
        for level in [1, 0] {
            let before = self.next[key][level].fetch_or(MARK, SeqCst);
            if level == 0 && before & MARK != 0 {
                return false;
            }
        }
        self.find(key);
        true
    }

    /// Looks for a key, and writes nothing.
    fn contains(&self, key: usize) -> bool {
        let (mut previous, mut found) = (0, LAST);
        for level in [1, 0] {
            let mut node = self.next[previous][level].load(SeqCst) & !MARK;
            while node != LAST {
                let next = self.next[node][level].load(SeqCst);
                if next & MARK != 0 {
                    node = next & !MARK;
                } else if node < key {
                    previous = node;
                    node = next;
                } else {
                    break;
                }
            }
            found = node;
        }
        found == key
    }
}

fn program(variant: Variant) {
    let set = Set::new(variant);
    let removed = thread::scope(|scope| {
        scope.spawn(|| set.add(1, true));
        scope.spawn(|| set.add(2, false));
        set.remove(1)
    });
    assert_eq!(set.contains(1), !removed, "1 is in the set unless it was removed");
    assert!(set.contains(2), "2 was added");
    assert!(set.contains(3), "3 was not touched");
}

fn large(variant: Variant) {
    let set = Set::new(variant);
    let removed = thread::scope(|scope| {
        scope.spawn(|| set.add(1, true));
        scope.spawn(|| set.add(2, false));
        scope.spawn(|| set.add(4, true));
        scope.spawn(|| assert!(set.remove(3), "3 was there"));
        set.remove(1)
    });
    assert_eq!(set.contains(1), !removed, "1 is in the set unless it was removed");
    assert!(set.contains(2) && set.contains(4), "2 and 4 were added");
    assert!(!set.contains(3), "3 was removed");
}
