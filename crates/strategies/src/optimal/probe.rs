//! How large the search is: random descents into what is left of it.
//!
//! The search goes through a tree, child by child, and has come along a path. What lies before the path is
//! counted. What is not known are the children of nodes on the path that have yet to be entered: they are
//! *pending*, and the size of each is estimated apart. From it on, a child is drawn at each node, all with
//! the same probability, until a leaf is reached. If the leaf is an execution, the product of the numbers of
//! children on the way is a sample; if it is a branch that leads nowhere, 0 is. The mean of the samples is
//! the number of executions (Knuth, "Estimating the efficiency of backtrack programs", 1975). Here:
//!
//! - children that lead nowhere at once do not count as children: each is tried, which needs no run;
//! - pending children take turns, from the root on. They are the strata of a stratified sample: the nodes on
//!   the path, which are the largest, add nothing to its variance. As long as the first round is not
//!   over, a child that had no turn is taken to be as large as the last one that had.
//!
//! A search that has not begun has an empty path; its first execution is then the path, and all that it
//! leaves is pending. What a descent runs are executions as good as any: violations in them are real.

use unpick_core::event::EventId;
use unpick_core::graph::{Graph, Synchronisation};
use unpick_core::memory::MemoryModel;
use unpick_core::op::{Op, ThreadId};
use unpick_core::strategy::{Estimate, LockWaiter, Path, Ready, Scene, Seen, Strategy};

use super::{Item, Optimal};
use crate::estimate::Mean;
use crate::sample::Draw;

/// Events that are looked at, about, to try the children of the nodes of one run. If there are more, all
/// count as children.
const EFFORT: usize = 1 << 20;

/// A path is followed into children that hold at least this part of what was visited. Below that, the
/// child through which it goes is pending as a whole.
const SMALL: u64 = 16;

/// Events of the graphs that are kept to follow a path, at most, about.
const ROOM: usize = 1 << 18;

/// A strategy that makes random descents.
#[derive(Debug)]
pub struct Probe {
    search: Optimal,
    draw: Draw,
    /// Descents to make.
    most: u64,
    /// Descents that were made.
    made: u64,
    /// The path of the search.
    path: Path,
    /// Nodes of it that have been passed.
    passed: usize,
    /// Executions that are known: those before the path, and the one at its end.
    known: u64,
    /// Graphs at the ends of the runs along the path.
    graphs: Vec<Graph>,
    pending: Vec<Pending>,
    descent: Option<Descent>,
    /// Whether each item of the current run leads anywhere.
    alive: Vec<bool>,
    /// The graph at the end of the current run.
    whole: Graph,
}

/// A child of a node on the path.
#[derive(Debug)]
struct Pending {
    /// The number of the graph that it belongs to.
    graph: usize,
    item: Item,
    /// Executions below it that the search has visited.
    visited: u64,
    sizes: Mean,
}

/// The current descent.
#[derive(Clone, Copy, Debug)]
struct Descent {
    /// The number of the pending child.
    from: usize,
    /// The product of the numbers of children so far; 0 once it leads nowhere.
    weight: f64,
}

impl Probe {
    /// A strategy that makes so many descents, from the root on; `spurious` and `seed` as for other
    /// strategies.
    pub fn new(spurious: bool, seed: u64, most: u64) -> Probe {
        Probe {
            search: Optimal::new(spurious),
            draw: Draw::new(seed, 0),
            most,
            made: 0,
            path: Path::default(),
            passed: 0,
            known: 0,
            graphs: Vec::new(),
            pending: Vec::new(),
            descent: None,
            alive: Vec::new(),
            whole: Graph::new(Synchronisation::AsWritten),
        }
    }

    /// The same, for what a search has left that has come along this path.
    pub fn beside(mut self, path: Path) -> Probe {
        self.known = path.leaves;
        self.path = path;
        self
    }

    /// Finds out which items of the run that has ended lead anywhere. The graph is of no use afterwards.
    fn try_items(&mut self, graph: &mut Graph, model: &mut dyn MemoryModel) {
        let (items, nodes) = (self.search.items.len(), self.search.branches.len());
        self.alive.clear();
        self.alive.resize(items, true);
        if items.saturating_mul(graph.len()) > EFFORT {
            return;
        }
        // In the order of the search, so that the graph is cut back further and further.
        for number in (0..items).rev() {
            let lives = self.try_item(graph, model, self.search.items[number]);
            self.alive[number] = lives || self.search.items.len() > items;
            self.search.items.truncate(items);
            self.search.branches.truncate(nodes);
            while self.search.leave(graph) {}
        }
    }

    fn try_item(&mut self, graph: &mut Graph, model: &mut dyn MemoryModel, item: Item) -> bool {
        self.search.apply(graph, item) && model.consistent(graph, &self.search.changed)
    }

    /// Goes on along the path, and notes what is pending. Returns the child through which the path goes,
    /// unless the last run has come to its end.
    fn follow(&mut self) -> Option<Item> {
        let graph = self.graphs.len();
        self.graphs.push(Graph::new(Synchronisation::AsWritten));
        self.graphs[graph].copy_from(&self.whole);
        for (node, items) in self.search.branches.left(self.search.items.len()) {
            let passed = self.path.nodes.get(self.passed).filter(|passed| passed.children == node.children);
            self.passed += 1;
            let entered = items.end - passed.map_or(0, |passed| passed.finished as usize);
            let left = (items.start..entered).rev().filter(|&item| self.alive[item]);
            let pending = |item| Pending { graph, item, visited: 0, sizes: Mean::default() };
            self.pending.extend(left.map(|item| pending(self.search.items[item])));
            let Some(passed) = passed.filter(|_| entered < items.end) else { continue };
            let child = self.search.items[entered];
            let visited = self.path.leaves - passed.leaves;
            if visited >= self.path.leaves / SMALL && self.graphs.len() * self.whole.len() < ROOM {
                return Some(child);
            }
            self.known -= visited;
            self.pending.push(Pending { visited, ..pending(child) });
            return None;
        }
        self.known += 1;
        None
    }

    /// Draws a child of each node of the last run until it is not the default: those below belong to the
    /// default child. `lives` says whether the default child of the last node leads anywhere.
    fn descend(&mut self, descent: &mut Descent, lives: bool) -> Option<Item> {
        let last = self.search.branches.len();
        if last == 0 && !lives {
            descent.weight = 0.0;
        }
        for (number, (_, items)) in self.search.branches.left(self.search.items.len()).enumerate() {
            let default = usize::from(lives || number + 1 < last);
            let alive = items.filter(|&item| self.alive[item]);
            let children = alive.clone().count() + default;
            descent.weight *= children as f64;
            if children == 0 {
                return None;
            }
            if let Some(drawn) = self.draw.index(children).checked_sub(default) {
                return alive.clone().nth(drawn).map(|item| self.search.items[item]);
            }
        }
        None
    }

    /// Ends the current descent, and begins the next one: with the pending child whose turn it is.
    fn turn(&mut self) -> Option<Descent> {
        if let Some(descent) = self.descent.take() {
            self.pending[descent.from].sizes.add(descent.weight);
            self.made += 1;
        }
        if self.made == self.most || self.pending.is_empty() {
            return None;
        }
        Some(Descent { from: (self.made % self.pending.len() as u64) as usize, weight: 1.0 })
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

    fn read(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> Seen {
        self.search.read(scene, thread, op)
    }

    fn write(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        self.search.write(scene, thread, op)
    }

    fn choose(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        self.search.choose(scene, thread, op)
    }

    fn stuck(&mut self, scene: Scene<'_>, waiters: &[LockWaiter]) {
        self.search.stuck(scene, waiters)
    }

    fn estimate(&self, _: u64) -> Option<Estimate> {
        if self.made == 0 && (self.known == self.path.leaves || !self.pending.is_empty()) {
            return None;
        }
        let mut last = 1.0;
        let sizes = self.pending.iter().map(|pending| {
            if pending.sizes.samples() == 0 {
                return f64::max(last, pending.visited as f64);
            }
            last = pending.sizes.mean().max(1.0);
            pending.sizes.mean().max(pending.visited as f64)
        });
        let total = self.known as f64 + sizes.sum::<f64>();
        Some(Estimate { progress: self.path.leaves as f64 / total, total, recursive: total })
    }

    fn next(&mut self, scene: Scene<'_>) -> bool {
        let Scene { graph, model } = scene;
        let mut lives = true;
        loop {
            self.whole.copy_from(graph);
            self.try_items(graph, model);
            let child = match self.descent {
                None => self.follow(),
                Some(mut descent) => {
                    let child = self.descend(&mut descent, lives);
                    self.descent = Some(descent);
                    child
                }
            };
            let item = match child {
                Some(item) => {
                    graph.copy_from(&self.whole);
                    item
                }
                None => {
                    self.descent = self.turn();
                    let Some(descent) = self.descent else { return false };
                    let pending = &self.pending[descent.from];
                    graph.copy_from(&self.graphs[pending.graph]);
                    pending.item
                }
            };
            self.search.items.clear();
            self.search.branches.clear();
            lives = self.try_item(graph, model, item);
            let frames = self.search.frames.drain(..);
            self.search.spare.extend(frames.map(|frame| frame.graph));
            if lives {
                return true;
            }
        }
    }
}
