//! A stack that takes a node that came back for one that stayed: ABA.
//!
//! Models the stack of R. Treiber, "Systems programming: coping with parallelism" (IBM 1986), with
//! nodes that are used again.
//!
//! Bug: `pop` reads the top and the node below it, and exchanges the top if it is the same node. If it
//! was taken off together with the one below, and pushed again, the node below is no longer in the
//! stack. Fix: a tag beside the pointer, which counts the exchanges.
//!
//! Shows under SC, with 3 threads (2 take part) and 1 preemption. `treiber_stack_large` has 4 threads and
//! more calls: too many executions for all of them.

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
    threads: 3,
    preemptions: Some(1),
    violation: "panic",
    program,
    settings: defaults,
    found_within: Some(1_000),
    exhaustible: true,
};

/// The stack with more threads and calls.
pub(crate) const LARGE: Bug = Bug {
    name: "treiber_stack_large",
    threads: 4,
    program: large,
    found_within: None,
    exhaustible: false,
    ..BUG
};

const NULL: u64 = 0;

/// The part of a word that is the node's number; the tag is above it.
const NODE: u64 = 0xff;

/// The value of a node is its number, from 1.
struct Stack {
    top: AtomicU64,
    next: [AtomicU64; 7],
    variant: Variant,
}

impl Stack {
    /// A stack of the nodes from 1 to 3.
    fn new(variant: Variant) -> Stack {
        let next = std::array::from_fn(|_| AtomicU64::new(NULL));
        let stack = Stack { top: AtomicU64::new(NULL), next, variant };
        (1..=3).for_each(|node| stack.push(node));
        stack
    }

    /// Each node up to the last was popped by somebody, or is still there, once.
    fn assert_nothing_lost(&self, mut nodes: Vec<u64>, last: u64) {
        while let Some(node) = self.pop() {
            nodes.push(node);
            assert!(nodes.len() <= last as usize, "a node came twice");
        }
        nodes.sort_unstable();
        assert_eq!(nodes, Vec::from_iter(1..=last), "nodes were lost or came twice");
    }

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
    let stack = Stack::new(variant);
    let nodes = thread::scope(|scope| {
        let other = scope.spawn(|| pop_two_push_one(&stack));
        scope.spawn(|| stack.push(4));
        stack.pop().into_iter().chain(other.join().unwrap()).collect()
    });
    stack.assert_nothing_lost(nodes, 4);
}

fn large(variant: Variant) {
    let stack = Stack::new(variant);
    let nodes = thread::scope(|scope| {
        let other = scope.spawn(|| pop_two_push_one(&stack));
        let third = scope.spawn(|| {
            stack.push(4);
            stack.pop()
        });
        let fourth = scope.spawn(|| {
            let node = stack.pop();
            stack.push(5);
            node
        });
        let mine = stack.pop();
        stack.push(6);
        let others = [other, third, fourth].map(|other| other.join().unwrap());
        mine.into_iter().chain(others.into_iter().flatten()).collect()
    });
    stack.assert_nothing_lost(nodes, 6);
}

/// Takes two nodes off and puts the first of them back.
fn pop_two_push_one(stack: &Stack) -> Option<u64> {
    let (first, second) = (stack.pop(), stack.pop());
    if let Some(node) = first {
        stack.push(node);
    }
    second
}
