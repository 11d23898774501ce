//! How far a search has come that keeps what can be decided otherwise on a stack of items.
//!
//! Where something is open there is a node. Its items are its children but the first, which is entered at
//! once; they are taken from the stack one after another.

use std::ops::Range;

use unpick_core::strategy::{Estimate, Path, PathNode};

use crate::estimate::{self, Tree};

/// A node on the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Where its items begin.
    start: u32,
    /// How many children there are.
    pub(crate) children: u32,
    /// Executions before the node.
    before: u64,
    /// Executions before the child that is being explored.
    begun: u64,
}

impl Node {
    /// How many children are finished, if so many items are left.
    fn finished(&self, items: &Range<usize>) -> u32 {
        self.children - 1 - items.len() as u32
    }
}

/// The nodes on the path.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    nodes: Vec<Node>,
    /// Executions before the current one.
    leaves: u64,
}

impl Branches {
    /// Makes a node of the items from `start` on, if there are any, and goes on to its first child.
    #[inline(always)]
    pub(crate) fn branch(&mut self, start: usize, items: usize) {
        if items > start {
            let (start, children) = (start as u32, (items - start) as u32 + 1);
            self.nodes.push(Node { start, children, before: self.leaves, begun: self.leaves });
        }
    }

    /// The last item was taken, and so many are left: nodes whose items are used up are finished.
    #[inline(always)]
    pub(crate) fn take(&mut self, items: usize) {
        while self.nodes.last().is_some_and(|node| node.start > items as u32) {
            self.nodes.pop();
        }
        if let Some(node) = self.nodes.last_mut() {
            node.begun = self.leaves;
        }
    }

    /// An execution has ended.
    #[inline(always)]
    pub(crate) fn end(&mut self) {
        self.leaves += 1;
    }

    /// All is explored.
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn truncate(&mut self, nodes: usize) {
        self.nodes.truncate(nodes);
    }

    /// The items that are left of so many, node by node.
    pub(crate) fn left(&self, items: usize) -> impl Iterator<Item = (&Node, Range<usize>)> {
        let ends = self.nodes.iter().skip(1).map(|node| node.start as usize).chain([items]);
        self.nodes.iter().zip(ends).map(|(node, end)| (node, node.start as usize..end))
    }

    /// How large the search is, if `leaves` executions were visited and so many items are left.
    pub(crate) fn estimate(&self, items: usize, leaves: u64) -> Estimate {
        let path = self.left(items).map(|(node, items)| estimate::Node {
            marked: node.children,
            finished: node.finished(&items),
            cost: 0.0,
            below: (node.begun - node.before) as f64,
        });
        let tree = Tree::at(path.collect(), Some(1.0));
        let recursive = if self.nodes.is_empty() { leaves as f64 } else { tree.recursive() };
        Estimate { progress: tree.progress(), total: tree.total(leaves), recursive }
    }

    pub(crate) fn path(&self, items: usize) -> Path {
        let nodes = self.left(items).map(|(node, items)| PathNode {
            children: node.children,
            finished: node.finished(&items),
            leaves: node.begun,
        });
        Path { leaves: self.leaves, nodes: nodes.collect() }
    }
}
