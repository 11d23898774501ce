//! Nodes that are used again, and tagged pointers to them.
//!
//! unpick never uses memory twice within an execution, so programs whose bugs come of that keep their
//! nodes in an array, and free ones in a list. A pointer is a number of a node and a tag, in one word;
//! an exchange counts the tag up, so that a pointer that went away and came back is told from one that
//! stayed.

use unpick::sync::atomic::Ordering::SeqCst;
use unpick::sync::atomic::{AtomicU64, AtomicUsize};

/// A node's number that is no node's.
pub(crate) const NULL: u32 = u32::MAX;

/// A pointer to a node, with a tag.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tagged {
    pub(crate) node: u32,
    pub(crate) tag: u32,
}

impl Tagged {
    pub(crate) fn is_null(self) -> bool {
        self.node == NULL
    }

    fn pack(self) -> u64 {
        u64::from(self.tag) << 32 | u64::from(self.node)
    }

    fn unpack(word: u64) -> Tagged {
        Tagged { node: (word & u64::from(u32::MAX)) as u32, tag: (word >> 32) as u32 }
    }
}

/// A tagged pointer that threads share.
pub(crate) struct AtomicTagged(AtomicU64);

impl AtomicTagged {
    /// A pointer with tag 0.
    pub(crate) fn new(node: u32) -> AtomicTagged {
        AtomicTagged(AtomicU64::new(Tagged { node, tag: 0 }.pack()))
    }

    #[track_caller]
    pub(crate) fn load(&self) -> Tagged {
        Tagged::unpack(self.0.load(SeqCst))
    }

    #[track_caller]
    pub(crate) fn store(&self, pointer: Tagged) {
        self.0.store(pointer.pack(), SeqCst);
    }

    /// Exchanges the pointer and counts its tag up, if it is still the old one.
    #[track_caller]
    pub(crate) fn exchange(&self, old: Tagged, node: u32) -> bool {
        let new = Tagged { node, tag: old.tag.wrapping_add(1) };
        self.0.compare_exchange(old.pack(), new.pack(), SeqCst, SeqCst).is_ok()
    }
}

/// A node of a list.
pub(crate) struct Node {
    pub(crate) next: AtomicTagged,
    pub(crate) value: AtomicUsize,
}

/// All nodes of a program.
pub(crate) struct Pool<const N: usize> {
    nodes: [Node; N],
    free: AtomicTagged,
}

impl<const N: usize> Pool<N> {
    /// Nodes that are in no list. None of them is free: who needs a new one brings its number.
    pub(crate) fn new() -> Pool<N> {
        let node = |_| Node { next: AtomicTagged::new(NULL), value: AtomicUsize::new(0) };
        Pool { nodes: std::array::from_fn(node), free: AtomicTagged::new(NULL) }
    }

    pub(crate) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// A node that was freed, or else the new one of the caller.
    pub(crate) fn take(&self, new: u32) -> u32 {
        loop {
            let free = self.free.load();
            if free.is_null() {
                return new;
            }
            let next = self.node(free.node).next.load();
            if self.free.exchange(free, next.node) {
                return free.node;
            }
        }
    }

    /// Frees a node. The tag of its pointer stays.
    pub(crate) fn give_back(&self, node: u32) {
        let next = &self.node(node).next;
        loop {
            let free = self.free.load();
            let tag = next.load().tag;
            next.store(Tagged { node: free.node, tag });
            if self.free.exchange(free, node) {
                return;
            }
        }
    }

    /// Makes a taken node the last of a list. The tag of its pointer stays.
    pub(crate) fn prepare(&self, node: u32, value: usize) {
        let Node { next, value: cell } = self.node(node);
        next.store(Tagged { node: NULL, tag: next.load().tag });
        cell.store(value, SeqCst);
    }
}
