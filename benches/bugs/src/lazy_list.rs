//! The lazy list, whose `add` does not look at marks.
//!
//! Models the set of S. Heller, M. Herlihy, V. Luchangco, M. Moir, W. Scherer and N. Shavit, "A lazy
//! concurrent list-based set algorithm" (OPODIS 2005): calls find their place without locks, lock two
//! nodes, and look again whether the place is still right.
//!
//! Bug: the second look compares the link only, and not whether one of the nodes was removed. A value
//! is added behind a node that is no longer in the list, and is lost. Fix: look at the marks as well.
//!
//! Shows under SC, with 3 threads (2 take part) and 1 preemption.

use unpick::sync::atomic::Ordering::SeqCst;
use unpick::sync::atomic::{AtomicBool, AtomicUsize};
use unpick::sync::{Mutex, MutexGuard};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The list.
pub(crate) const BUG: Bug = Bug {
    name: "lazy_list",
    after: "Heller and others 2005",
    bug: "`add` does not see that its neighbour was removed",
    memory: Memory::Sc,
    threads: 3,
    preemptions: Some(1),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(100),
    exhaustible: true,
};

/// The last node; node 0 is the first, and the key of a node is its number.
const LAST: usize = 4;

#[derive(Default)]
struct Node {
    next: AtomicUsize,
    removed: AtomicBool,
    lock: Mutex<()>,
}

struct Set {
    nodes: [Node; LAST + 1],
    variant: Variant,
}

impl Set {
    /// The set of the keys of some nodes, in rising order.
    fn new(keys: &[usize], variant: Variant) -> Set {
        let set = Set { nodes: Default::default(), variant };
        let mut previous = 0;
        for &key in keys.iter().chain([&LAST]) {
            set.nodes[previous].next.store(key, SeqCst);
            previous = key;
        }
        set
    }

    /// The last node below a key, and the one behind it.
    fn find(&self, key: usize) -> (usize, usize) {
        let (mut previous, mut node) = (0, self.nodes[0].next.load(SeqCst));
        while node < key {
            previous = node;
            node = self.nodes[node].next.load(SeqCst);
        }
        (previous, node)
    }

    /// The place of a key, with both nodes locked.
    fn lock(&self, key: usize) -> (usize, usize, [MutexGuard<'_, ()>; 2]) {
        loop {
            let (previous, node) = self.find(key);
            let guards = [previous, node].map(|node| self.nodes[node].lock.lock().unwrap());
            let removed = |node: usize| self.variant.is_fixed() && self.nodes[node].removed.load(SeqCst);
            let linked = self.nodes[previous].next.load(SeqCst) == node;
            if linked && !removed(previous) && !removed(node) {
                return (previous, node, guards);
            }
        }
    }

    fn add(&self, key: usize) -> bool {
        let (previous, node, _guards) = self.lock(key);
        if node == key {
            return false;
        }
        self.nodes[key].next.store(node, SeqCst);
        self.nodes[previous].next.store(key, SeqCst);
        true
    }

    fn remove(&self, key: usize) -> bool {
        let (previous, node, _guards) = self.lock(key);
        if node != key {
            return false;
        }
        self.nodes[key].removed.store(true, SeqCst);
        self.nodes[previous].next.store(self.nodes[key].next.load(SeqCst), SeqCst);
        true
    }

    fn contains(&self, key: usize) -> bool {
        let (_, node) = self.find(key);
        node == key && !self.nodes[node].removed.load(SeqCst)
    }
}

fn program(variant: Variant) {
    let set = Set::new(&[1, 3], variant);
    thread::scope(|scope| {
        scope.spawn(|| assert!(set.remove(1), "1 was there"));
        scope.spawn(|| assert!(set.remove(3), "3 was there"));
        assert!(set.add(2), "2 was not there");
        assert!(set.contains(2), "2 was added");
    });
    assert!(set.contains(2) && !set.contains(3) && !set.contains(1), "2 is in the set, 1 and 3 are not");
}
