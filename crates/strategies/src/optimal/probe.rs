//! How large the search is, before it is made: random descents through its tree.
//!
//! From the root on, a child is drawn at each node, all with the same probability, until a leaf is
//! reached. If the leaf is an execution, the product of the numbers of children on the way is a sample;
//! if it is a branch that leads nowhere, 0 is. The mean of the samples is the number of executions
//! (Knuth, "Estimating the efficiency of backtrack programs", 1975). What a descent runs are executions
//! as good as any: violations in them are real.

use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::{Op, ThreadId};
use unpick_core::strategy::{Estimate, LockWaiter, Ready, Scene, Strategy};

use super::{Item, Optimal};
use crate::estimate::{Mean, Tree};
use crate::sample::Draw;

/// A strategy that makes random descents.
#[derive(Debug)]
pub struct Probe {
    search: Optimal,
    draw: Draw,
    /// Descents to make.
    most: u64,
    /// The product of the numbers of children so far.
    weight: f64,
    /// Nodes of the current run that have been passed.
    passed: usize,
    /// The child that was drawn, unless it is the default.
    drawn: Option<Item>,
    sizes: Mean,
}

impl Probe {
    /// A strategy that makes so many descents; `spurious` and `seed` as for other strategies.
    pub fn new(spurious: bool, seed: u64, most: u64) -> Probe {
        Probe {
            search: Optimal::new(spurious),
            draw: Draw::new(seed, 0),
            most,
            weight: 1.0,
            passed: 0,
            drawn: None,
            sizes: Mean::default(),
        }
    }

    /// Draws a child of each node that the search has made since the last call, until it is not the
    /// default: those below belong to the default child.
    fn descend(&mut self) {
        while let (None, Some(&start)) = (self.drawn, self.search.nodes.get(self.passed)) {
            self.passed += 1;
            let end = self.search.nodes.get(self.passed).map_or(self.search.items.len(), |&end| end as usize);
            let items = &self.search.items[start as usize..end];
            self.weight *= (items.len() + 1) as f64;
            let child = self.draw.index(items.len() + 1);
            self.drawn = child.checked_sub(1).map(|item| items[item]);
        }
    }

    /// Forgets the nodes that have been passed.
    fn forget(&mut self) {
        self.search.items.clear();
        self.search.nodes.clear();
        self.search.tree = Tree::new();
        self.passed = 0;
    }

    /// Ends a descent, and starts the next one at the root.
    fn land(&mut self, graph: &mut Graph, size: f64) {
        self.sizes.add(size);
        self.weight = 1.0;
        self.forget();
        while self.search.leave(graph) {}
        graph.cut(0);
    }
}

impl Strategy for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    fn admits(&mut self, thread: ThreadId, reads: bool, ready: &Ready) -> bool {
        self.search.admits(thread, reads, ready)
    }

    fn pick(&mut self, graph: &Graph, ready: &Ready) -> Option<ThreadId> {
        self.search.pick(graph, ready)
    }

    fn read(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        let read = self.search.read(scene, thread, op);
        self.descend();
        read
    }

    fn write(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        let write = self.search.write(scene, thread, op);
        self.descend();
        write
    }

    fn choose(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        let choice = self.search.choose(scene, thread, op);
        self.descend();
        choice
    }

    fn stuck(&mut self, scene: Scene<'_>, waiters: &[LockWaiter]) {
        self.search.stuck(scene, waiters);
        self.descend();
    }

    fn estimate(&self, _: u64) -> Option<Estimate> {
        let total = (self.sizes.samples() > 0).then(|| self.sizes.mean())?;
        Some(Estimate { progress: 0.0, total, recursive: total })
    }

    fn next(&mut self, scene: Scene<'_>) -> bool {
        let Scene { graph, model } = scene;
        loop {
            let Some(item) = self.drawn.take() else {
                self.land(graph, self.weight);
                return self.sizes.samples() < self.most;
            };
            self.forget();
            let lives = self.search.apply(graph, item) && model.consistent(graph, &self.search.changed);
            self.descend();
            if self.drawn.is_none() {
                if lives {
                    return true;
                }
                self.land(graph, 0.0);
                return self.sizes.samples() < self.most;
            }
        }
    }
}
