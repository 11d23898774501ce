//! How large a search is, guessed from the part of it that is done.
//!
//! A search is a tree: its leaves are executions, and where something is open a node has a child for
//! each way to go on. Only the path to the current leaf is kept, and how many children each node on it
//! has, as far as is known, and how many are finished. From that come two estimates:
//!
//! - *weighted backtrack*: a leaf counts for one divided by the numbers of children on its path. What the
//!   finished leaves add up to is the part of the tree that is done.
//! - *recursive*: a child that nobody has entered is taken to cost what its siblings do, on the average.
//!
//! Both go back to Kilby, Slaney, Thiébaux and Walsh ("Estimating search tree size", AAAI 2006). A node
//! may get more children while the search is below it.

/// A node on the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Children that are known.
    pub(crate) marked: u32,
    /// Children that are finished.
    pub(crate) finished: u32,
    /// What it costs to come here from the node above.
    pub(crate) cost: f64,
    /// What the finished children cost.
    pub(crate) below: f64,
}

/// The path to the current leaf of a search.
///
/// ```
/// use unpick_strategies::estimate::Tree;
///
/// let mut tree = Tree::new();
/// tree.branch(0.0, 2);
/// tree.branch(0.0, 2);
/// tree.leaf(1.0);
/// assert_eq!((tree.progress(), tree.total(1)), (0.25, 4.0));
/// tree.next(1);
/// tree.leaf(1.0);
/// assert_eq!((tree.progress(), tree.recursive()), (0.5, 4.0));
/// ```
#[derive(Clone, Debug)]
pub struct Tree {
    path: Vec<Node>,
    /// What the current leaf costs, counted from the last node; nothing if the search has yet to go there.
    leaf: Option<f64>,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree::new()
    }
}

impl Tree {
    /// A search that has not begun; a leaf costs 1 unless it is said otherwise.
    pub fn new() -> Tree {
        Tree { path: Vec::new(), leaf: Some(1.0) }
    }

    /// A search that has come so far. Without a leaf, the next child of the last node is yet to be entered,
    /// and one is finished.
    pub(crate) fn at(path: Vec<Node>, leaf: Option<f64>) -> Tree {
        Tree { path, leaf }
    }

    /// Goes down to a node with so many children, and on to the first of them. `cost` is that of
    /// coming there from the node above.
    pub fn branch(&mut self, cost: f64, marked: u32) {
        self.path.push(Node { marked, finished: 0, cost, below: 0.0 });
    }

    /// Gives a node on the path more children.
    pub fn mark(&mut self, depth: usize, more: u32) {
        self.path[depth].marked += more;
    }

    /// Ends the current branch. `cost` is that of coming there from the last node.
    pub fn leaf(&mut self, cost: f64) {
        self.leaf = Some(cost);
    }

    /// Goes on with the next child of the node at `depth`: what was below it is finished.
    pub fn next(&mut self, depth: usize) {
        let finished = self.path.drain(depth + 1..).rev();
        let cost = finished.fold(self.leaf.unwrap_or(0.0), |cost, node| node.cost + node.below + cost);
        let node = &mut self.path[depth];
        node.finished += 1;
        node.below += cost;
    }

    /// The part of the tree that is done, from 0 to 1: with the current leaf, if there is one.
    pub fn progress(&self) -> f64 {
        let part = |part: f64, node: &Node| (f64::from(node.finished) + part) / f64::from(node.marked);
        self.path.iter().rev().fold(if self.leaf.is_some() { 1.0 } else { 0.0 }, part)
    }

    /// The number of leaves, if so many have been reached: the estimate by weighted backtrack.
    pub fn total(&self, leaves: u64) -> f64 {
        leaves as f64 / self.progress()
    }

    /// What the whole search costs: the recursive estimate.
    pub fn recursive(&self) -> f64 {
        let mut entered = self.leaf.is_some();
        self.path.iter().rev().fold(self.leaf.unwrap_or(0.0), |cost, node| {
            let explored = node.finished + u32::from(std::mem::replace(&mut entered, true));
            node.cost + f64::from(node.marked) / f64::from(explored) * (node.below + cost)
        })
    }
}

/// A mean that is fed one sample at a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean {
    samples: u64,
    mean: f64,
}

impl Mean {
    /// Adds a sample.
    pub fn add(&mut self, sample: f64) {
        self.samples += 1;
        self.mean += (sample - self.mean) / self.samples as f64;
    }

    /// How many samples there are.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-4
    }

    /// Two threads that each read `x`, add one and write `x`, searched by partial-order reduction: the
    /// example of the estimators in Ben Blum's thesis. Six branches, each transition costs one.
    #[test]
    fn the_published_example_is_followed_step_by_step() {
        let mut tree = Tree::new();
        let mut leaves = 0;
        let mut expect = |tree: &Tree, part: f64, total: f64, recursive: f64| {
            leaves += 1;
            assert!(close(tree.progress(), part), "{leaves}: {}", tree.progress());
            assert!(close(tree.total(leaves), total), "{leaves}: {}", tree.total(leaves));
            assert!(close(tree.recursive(), recursive), "{leaves}: {}", tree.recursive());
        };
        // A: the root and a node two steps below it get a second child each, while this branch runs.
        tree.branch(0.0, 1);
        tree.branch(2.0, 1);
        tree.leaf(4.0);
        tree.mark(1, 1);
        tree.mark(0, 1);
        expect(&tree, 0.25, 4.0, 20.0);
        // B: so does a node two steps further down.
        tree.next(1);
        tree.branch(2.0, 1);
        tree.leaf(2.0);
        tree.mark(2, 1);
        expect(&tree, 0.375, 5.333, 24.0);
        // C
        tree.next(2);
        tree.leaf(2.0);
        expect(&tree, 0.5, 6.0, 24.0);
        // K, L and M: the same on the other side.
        tree.next(0);
        tree.branch(2.0, 1);
        tree.leaf(4.0);
        tree.mark(1, 1);
        expect(&tree, 0.75, 5.333, 22.0);
        tree.next(1);
        tree.branch(2.0, 1);
        tree.leaf(2.0);
        tree.mark(2, 1);
        expect(&tree, 0.875, 5.714, 24.0);
        tree.next(2);
        tree.leaf(2.0);
        expect(&tree, 1.0, 6.0, 24.0);
    }

    /// With sleep sets the last two branches are not taken, nor marked.
    #[test]
    fn without_the_last_two_branches_the_end_is_exact() {
        let mut tree = Tree::new();
        tree.branch(0.0, 2);
        tree.branch(2.0, 2);
        tree.leaf(4.0);
        tree.next(1);
        tree.branch(2.0, 2);
        tree.leaf(2.0);
        tree.next(2);
        tree.leaf(2.0);
        tree.next(0);
        tree.leaf(6.0);
        assert!(close(tree.total(4), 4.0) && close(tree.recursive(), 18.0));
    }

    #[test]
    fn a_mean_is_that_of_its_samples() {
        let mut mean = Mean::default();
        [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter().for_each(|sample| mean.add(sample));
        assert!(close(mean.mean(), 5.0));
        assert_eq!(mean.samples(), 8);
    }
}
