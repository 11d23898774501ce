//! `pct`: priorities that change at a few random points.
//!
//! Threads have random priorities, and the ready one with the highest moves. At `d - 1` steps, drawn
//! from all steps of a run, the thread that has just moved falls below all others. A bug that needs `d`
//! accesses in a certain order is found with probability at least `1 / (n * k^(d - 1))` per run, where
//! `n` is the number of threads and `k` that of steps. Plain `pct` draws another `d` for each run, and
//! whether a thread falls after its step or before it: only then can one fall that has not moved yet.
//! From Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler with probabilistic
//! guarantees of finding bugs" (ASPLOS 2010).
//!
//! `k` is the most that runs had lately. A thread that has only read for long falls below all others, as does one after
//! very many steps of any kind, so that loops which wait for others come to an end.

use unpick_core::coverage::Coverage;
use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::ThreadId;
use unpick_core::strategy::Ready;

use super::Policy;
use super::draw::Draw;

/// Depths that plain `pct` draws are below this.
const MOST_DEPTH: u64 = 32;

/// Runs over which the longest is sought.
const RUNS_PER_ESTIMATE: u64 = 1024;

/// Reads in a row, without a write, after which a thread lets others go first.
const MOST_READS: u32 = 64;

/// Events of any kind after which it does.
const MOST_EVENTS: u32 = 4096;

/// The policy.
#[derive(Debug)]
pub(crate) struct Pct {
    depth: Option<u32>,
    /// Priorities; 0 is one that was not drawn yet.
    priorities: Vec<u64>,
    changes: Vec<u64>,
    step: u64,
    /// How often in a row each thread has only read, and its events since it last let others go first.
    patience: Vec<(u32, u32)>,
    /// The next lowest priority for a thread that takes a turn.
    turn: u64,
    /// The most steps of a run lately, and before that.
    longest: [u64; 2],
    run: u64,
    /// The depth of this run.
    current: u64,
    /// Whether priorities change before the step, not after it.
    before: bool,
}

/// Priorities that are drawn are above this, those after changes below.
const BAND: u64 = 1 << 62;

/// Priorities after changes are above this, those after turns below.
const CHANGED: u64 = 1 << 61;

impl Pct {
    /// For bugs of this depth, or of any.
    pub(crate) fn new(depth: Option<u32>) -> Pct {
        Pct {
            depth,
            priorities: Vec::new(),
            changes: Vec::new(),
            step: 0,
            patience: Vec::new(),
            turn: CHANGED,
            longest: [0; 2],
            run: 0,
            current: 1,
            before: false,
        }
    }

    /// The ready thread with the highest priority.
    #[inline(always)]
    fn highest(&mut self, ready: &Ready, draw: &mut Draw) -> ThreadId {
        let mut best = (0, ThreadId::MAIN);
        for thread in ready.others.iter().chain(ready.reads.iter()) {
            if thread.index() >= self.priorities.len() {
                self.priorities.resize(thread.index() + 1, 0);
            }
            let priority = &mut self.priorities[thread.index()];
            if *priority == 0 {
                *priority = BAND | draw.number() >> 2;
            }
            if *priority > best.0 {
                best = (*priority, thread);
            }
        }
        best.1
    }

    fn expected(&self) -> u64 {
        self.longest[0].max(self.longest[1]).max(1)
    }
}

/// A depth: each is drawn 2/3 as often as the one before.
fn any_depth(draw: &mut Draw) -> u64 {
    let mut depth = 1;
    while depth < MOST_DEPTH && draw.below(3) != 0 {
        depth += 1;
    }
    depth
}

impl Policy for Pct {
    fn name(&self) -> &'static str {
        "pct"
    }

    fn begin(&mut self, _: &Coverage, draw: &mut Draw) {
        self.current = self.depth.map_or_else(|| any_depth(draw), u64::from);
        self.before = self.depth.is_none() && draw.coin();
        self.priorities.clear();
        self.changes.clear();
        self.step = 0;
        self.patience.clear();
        self.turn = CHANGED;
        let expected = self.expected();
        self.changes.extend((1..self.current).map(|_| 1 + draw.below(expected)));
    }

    fn pick(&mut self, _: &Graph, ready: &Ready, draw: &mut Draw) -> ThreadId {
        let mut thread = self.highest(ready, draw);
        self.step += 1;
        for index in 0..self.changes.len() {
            if self.changes[index] == self.step {
                self.priorities[thread.index()] = CHANGED + self.current - index as u64;
                if self.before {
                    thread = self.highest(ready, draw);
                }
            }
        }
        thread
    }

    #[inline(always)]
    fn added(&mut self, graph: &Graph, id: EventId) {
        let thread = id.thread.index();
        if thread >= self.patience.len() {
            self.patience.resize(thread + 1, (0, 0));
        }
        let (reads, events) = &mut self.patience[thread];
        *reads = if graph.event(id).is_write() { 0 } else { *reads + 1 };
        *events += 1;
        if *reads >= MOST_READS || *events >= MOST_EVENTS {
            (*reads, *events) = (0, 0);
            self.turn -= 1;
            self.priorities[thread] = self.turn;
        }
    }

    fn end(&mut self, _: &Graph, _: &Coverage, _: bool, _: u64) {
        self.run += 1;
        self.longest[0] = self.longest[0].max(self.step);
        if self.run.is_multiple_of(RUNS_PER_ESTIMATE) {
            self.longest = [0, self.longest[0]];
        }
    }
}
