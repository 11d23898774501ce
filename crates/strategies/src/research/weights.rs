//! `urw` and `surw`: threads by how much they have left to do.
//!
//! The uniform random walk moves each thread with a probability in proportion to the steps that it has
//! left. With step counts that are known and no waiting, every interleaving is drawn alike; a walk
//! that moves any thread is badly biased against long ones. Counts are the means of earlier runs. A
//! thread that is yet to be spawned counts for the one that spawns it.
//!
//! The selective one counts only accesses that are of interest, and draws the orders of those alike:
//! the accesses to one location that threads share, another one every few runs. Locations are
//! told by the places in the source that access them, since their numbers depend on the execution.
//! From Zhao, Wolff, Mathur and Roychoudhury, "Selectively uniform concurrency testing" (ASPLOS 2025).

use unpick_core::coverage::Coverage;
use unpick_core::graph::Graph;
use unpick_core::op::{Addr, Kind, Op, Site, ThreadId};
use unpick_core::strategy::Ready;

use crate::sample::{Draw, Policy, walk};

/// Runs for which a set of interesting accesses is kept.
const RUNS_PER_SET: u64 = 16;

/// Steps after which a thread that was to make the next interesting access is not waited for any longer: its
/// loop may wait for one that is held up.
const PATIENCE: u32 = 64;

/// What is known and expected of one thread.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// Steps that count in this run.
    steps: u64,
    /// Steps that counted in all runs in which the thread came to its end, and how many those were.
    all: u64,
    runs: u64,
    /// The most steps that counted in any run.
    most: u64,
    /// What it has left in this run, threads that it is to spawn included.
    left: i64,
    there: bool,
    parent: u32,
}

impl Load {
    fn expected(&self) -> i64 {
        (self.all + self.runs / 2).checked_div(self.runs).unwrap_or(self.most) as i64
    }
}

/// How much each thread has left.
#[derive(Debug, Default)]
struct Loads {
    loads: Vec<Load>,
    /// What each thread and those that it spawns, directly or not, have to do in a run.
    totals: Vec<i64>,
}

impl Loads {
    fn begin(&mut self) {
        self.totals.clear();
        self.totals.extend(self.loads.iter().map(Load::expected));
        for load in &mut self.loads {
            load.steps = 0;
            load.left = 0;
            load.there = false;
        }
        // A thread has a higher number than the one that spawns it.
        for t in (1..self.loads.len()).rev() {
            self.totals[self.loads[t].parent as usize] += self.totals[t];
        }
    }

    /// What the thread has left, and at least 1.
    #[inline(always)]
    fn weight(&mut self, graph: &Graph, thread: ThreadId) -> u64 {
        if self.loads.get(thread.index()).is_none_or(|load| !load.there) {
            self.meet(graph, thread);
        }
        self.loads[thread.index()].left.max(1) as u64
    }

    #[cold]
    #[inline(never)]
    fn meet(&mut self, graph: &Graph, thread: ThreadId) {
        let len = self.loads.len().max(thread.index() + 1);
        self.loads.resize(len, Load::default());
        self.totals.resize(len, 0);
        let total = self.totals[thread.index()];
        if let Some(spawn) = graph.spawn_of(thread) {
            self.loads[thread.index()].parent = spawn.thread.0;
            // One that has no access of its own has not been met.
            if self.loads.get(spawn.thread.index()).is_none_or(|load| !load.there) {
                self.meet(graph, spawn.thread);
            }
            self.loads[spawn.thread.index()].left -= total;
        }
        let load = &mut self.loads[thread.index()];
        load.there = true;
        load.left += total;
    }

    #[inline(always)]
    fn step(&mut self, thread: ThreadId) {
        let load = &mut self.loads[thread.index()];
        load.steps += 1;
        load.left -= 1;
    }

    fn end(&mut self, graph: &Graph) {
        for (t, load) in self.loads.iter_mut().enumerate().filter(|(_, load)| load.there) {
            load.most = load.most.max(load.steps);
            if graph.is_finished(ThreadId(t as u32)) {
                load.all += load.steps;
                load.runs += 1;
            }
        }
    }

    /// A thread of `among`, by weight.
    #[inline(always)]
    fn draw(
        &mut self,
        graph: &Graph,
        among: impl Iterator<Item = ThreadId> + Clone,
        draw: &mut Draw,
    ) -> ThreadId {
        let mut sum = 0;
        let mut only = None;
        for thread in among.clone() {
            sum += self.weight(graph, thread);
            only = Some(thread);
        }
        let mut at = draw.below(sum);
        for thread in among {
            let weight = self.weight(graph, thread);
            if at < weight {
                return thread;
            }
            at -= weight;
        }
        only.expect("a thread is asked for when one is ready")
    }
}

/// The uniform random walk.
#[derive(Debug, Default)]
pub(crate) struct Urw {
    loads: Loads,
}

impl Policy for Urw {
    fn name(&self) -> &'static str {
        "urw"
    }

    fn begin(&mut self, _: &Coverage, _: &mut Draw) {
        self.loads.begin();
    }

    fn pick(&mut self, graph: &Graph, ready: &Ready, draw: &mut Draw) -> ThreadId {
        let threads = ready.others.iter().chain(ready.reads.iter());
        let thread = self.loads.draw(graph, threads, draw);
        self.loads.step(thread);
        thread
    }

    fn end(&mut self, graph: &Graph, _: &Coverage, _: bool, _: u64) {
        self.loads.end(graph);
    }
}

/// The selectively uniform random walk.
#[derive(Debug, Default)]
pub(crate) struct Surw {
    loads: Loads,
    /// The places of interesting accesses.
    sites: Vec<Site>,
    intended: Option<ThreadId>,
    held: Vec<ThreadId>,
    free: Vec<ThreadId>,
    /// Steps since a thread was chosen to make the next interesting access.
    waited: u32,
    run: u64,
}

impl Surw {
    fn is_of_interest(&self, op: &Op) -> bool {
        op.kind != Kind::Choice && self.sites.contains(&op.site)
    }

    /// Chooses another location, and counts what the threads have done there in this graph.
    fn select(&mut self, graph: &Graph, number: u64) {
        let is_shared = |addr: &Addr| {
            let mut accesses = graph.writes(*addr).iter().chain(graph.reads(*addr));
            let first = accesses.next();
            !graph.writes(*addr).is_empty() && accesses.any(|id| first.is_some_and(|f| f.thread != id.thread))
        };
        let shared: Vec<Addr> =
            (0..graph.location_count()).map(|index| Addr(index as u32)).filter(is_shared).collect();
        self.sites.clear();
        if let Some(&addr) = shared.get(number as usize % shared.len().max(1)) {
            let accesses = graph.writes(addr).iter().chain(graph.reads(addr));
            self.sites.extend(accesses.map(|&id| graph.event(id).site));
            self.sites.sort_unstable();
            self.sites.dedup();
        }
        for load in &mut self.loads.loads {
            (load.all, load.runs) = (0, 0);
        }
        for &id in graph.order() {
            let (event, loads) = (graph.event(id), &mut self.loads.loads);
            if let Some(load) = loads.get_mut(id.thread.index()) {
                load.all +=
                    u64::from((event.is_read() || event.is_write()) && self.sites.contains(&event.site));
            }
        }
        self.loads.loads.iter_mut().for_each(|load| load.runs = 1);
    }
}

impl Policy for Surw {
    fn name(&self) -> &'static str {
        "surw"
    }

    fn begin(&mut self, _: &Coverage, _: &mut Draw) {
        self.loads.begin();
        self.intended = None;
        self.held.clear();
    }

    fn pick(&mut self, graph: &Graph, ready: &Ready, draw: &mut Draw) -> ThreadId {
        if self.sites.is_empty() {
            let thread = walk::any(ready, draw);
            self.loads.weight(graph, thread);
            return thread;
        }
        self.waited += 1;
        loop {
            if self.waited > PATIENCE || self.intended.is_none_or(|thread| !ready.contains(thread)) {
                self.waited = 0;
                let threads = ready.others.iter().chain(ready.reads.iter());
                self.intended = Some(self.loads.draw(graph, threads, draw));
                self.held.clear();
            }
            self.free.clear();
            let held = &self.held;
            self.free.extend(ready.threads().filter(|thread| !held.contains(thread)));
            while !self.free.is_empty() {
                let thread = self.free.swap_remove(draw.index(self.free.len()));
                self.loads.weight(graph, thread);
                if !ready.op(thread).is_some_and(|op| self.is_of_interest(op)) {
                    return thread;
                }
                if self.intended == Some(thread) {
                    self.intended = None;
                    self.held.clear();
                    self.loads.step(thread);
                    return thread;
                }
                self.held.push(thread);
            }
            self.intended = None;
        }
    }

    fn end(&mut self, graph: &Graph, _: &Coverage, _: bool, _: u64) {
        if self.run.is_multiple_of(RUNS_PER_SET) {
            self.select(graph, self.run / RUNS_PER_SET);
        } else {
            self.loads.end(graph);
        }
        self.run += 1;
    }
}
