//! A stack that takes a node that came back for one that stayed: ABA.
//!
//! Models the stack of R. Treiber, "Systems programming: coping with parallelism" (IBM 1986), with
//! nodes that are used again.
//!
//! Bug: `pop` reads the top and the node below it, and exchanges the top if it is the same node. If it
//! was taken off together with the one below, and pushed again, the node below is no longer in the
//! stack. Fix: a tag beside the pointer, which counts the exchanges.
//!
//! Shows under SC, with 2 threads and 1 preemption.

use unpick::sync::atomic::AtomicU64;
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The stack.
pub(crate) const BUG: Bug = Bug {
    name: "treiber_stack",
    after: "Treiber 1986; Michael 2004 on ABA",
    bug: "a node that was popped and pushed again is taken for one that stayed",
    memory: Memory::Sc,
    threads: 2,
    preemptions: Some(1),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(1_000),
    exhaustible: true,
};

const NULL: u64 = 0;

/// The part of a word that is the node's number; the tag is above it.
const NODE: u64 = 0xff;

/// The value of a node is its number, from 1.
struct Stack {
    top: AtomicU64,
    next: [AtomicU64; 4],
    variant: Variant,
}

impl Stack {
    fn exchange_top(&self, old: u64, node: u64) -> bool {
        let tag = if self.variant.is_fixed() { (old & !NODE) + NODE + 1 } else { 0 };
        self.top.compare_exchange(old, tag | node, SeqCst, SeqCst).is_ok()
    }

    fn push(&self, node: u64) {
        loop {
            let top = self.top.load(SeqCst);
            self.next[node as usize].store(top & NODE, SeqCst);
            if self.exchange_top(top, node) {
                return;
            }
        }
    }

    fn pop(&self) -> Option<u64> {
        loop {
            let top = self.top.load(SeqCst);
            let node = top & NODE;
            if node == NULL {
                return None;
            }
            let next = self.next[node as usize].load(SeqCst);
            if self.exchange_top(top, next) {
                return Some(node);
            }
        }
    }
}

fn program(variant: Variant) {
    let next = std::array::from_fn(|_| AtomicU64::new(NULL));
    let stack = Stack { top: AtomicU64::new(NULL), next, variant };
    (1..=3).for_each(|node| stack.push(node));
    let mut nodes = thread::scope(|scope| {
        let other = scope.spawn(|| {
            let (first, second) = (stack.pop(), stack.pop());
            if let Some(node) = first {
                stack.push(node);
            }
            second
        });
        vec![stack.pop(), other.join().unwrap()]
    });
    while let Some(node) = stack.pop() {
        nodes.push(Some(node));
        assert!(nodes.len() <= 3, "a node came twice");
    }
    nodes.sort_unstable();
    assert_eq!(nodes, [Some(1), Some(2), Some(3)], "nodes were lost or came twice");
}
