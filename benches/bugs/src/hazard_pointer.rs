//! A hazard pointer that comes too late.
//!
//! Models M. Michael, "Hazard pointers: safe memory reclamation for lock-free objects" (TPDS 2004): a
//! reader says which node it uses, and a writer who has replaced a node frees it once nobody says so.
//!
//! Bug: the reader does not look again, after it has said which node it uses, whether that node is still
//! there. Fix: it does, and starts anew if not.
//!
//! Shows under SC, with 2 threads and 1 preemption.

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::plain::Plain;

/// The reader and the writer.
pub(crate) const BUG: Bug = Bug {
    name: "hazard_pointer",
    after: "Michael 2004",
    bug: "the reader does not look again after it has announced the node",
    memory: Memory::Sc,
    threads: 2,
    preemptions: Some(1),
    violation: "data race",
    program,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

const NONE: usize = usize::MAX;

/// What is in a node that was freed.
const FREED: usize = 0;

struct Shared {
    current: AtomicUsize,
    hazard: AtomicUsize,
    nodes: [Plain<usize>; 2],
    variant: Variant,
}

impl Shared {
    fn read(&self) -> usize {
        loop {
            let node = self.current.load(SeqCst);
            self.hazard.store(node, SeqCst);
            if self.variant.is_fixed() && self.current.load(SeqCst) != node {
                continue;
            }
            let value = self.nodes[node].get();
            self.hazard.store(NONE, SeqCst);
            return value;
        }
    }

    /// Replaces the node, and frees the old one when nobody uses it.
    fn replace(&self, node: usize, value: usize) {
        self.nodes[node].set(value);
        let old = self.current.swap(node, SeqCst);
        while self.hazard.load(SeqCst) == old {}
        self.nodes[old].set(FREED);
    }
}

fn program(variant: Variant) {
    let shared = Shared {
        current: AtomicUsize::new(0),
        hazard: AtomicUsize::new(NONE),
        nodes: [Plain::new(10), Plain::new(FREED)],
        variant,
    };
    thread::scope(|scope| {
        scope.spawn(|| shared.replace(1, 20));
        let value = shared.read();
        assert_ne!(value, FREED, "a freed node was read");
    });
}
