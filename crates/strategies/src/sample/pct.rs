//! `pct`: priorities that change at a few random points.
//!
//! Threads have random priorities, and the ready one with the highest moves. At `d - 1` steps, drawn
//! from all steps of a run, the thread that has just moved falls below all others. A bug that needs `d`
//! accesses in a certain order is found with probability at least `1 / (n * k^(d - 1))` per run, where
//! `n` is the number of threads and `k` that of steps. Plain `pct` draws another `d` for each run.
//! From Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler with probabilistic
//! guarantees of finding bugs" (ASPLOS 2010).
//!
//! `k` is the most that runs had lately. A run that is longer than any so far lets its threads take turns, so
//! that loops which wait for others come to an end.

use unpick_core::coverage::Coverage;
use unpick_core::graph::Graph;
use unpick_core::op::ThreadId;
use unpick_core::strategy::Ready;

use super::Policy;
use super::draw::Draw;

/// Depths that plain `pct` draws from.
const DEPTHS: u64 = 4;

/// Runs over which the longest is sought.
const RUNS_PER_ESTIMATE: u64 = 1024;

/// Steps between two turns in a run that is longer than expected.
const TURN: u64 = 64;

/// The policy.
#[derive(Debug)]
pub(crate) struct Pct {
    depth: Option<u32>,
    /// Priorities; 0 is one that was not drawn yet.
    priorities: Vec<u64>,
    changes: Vec<u64>,
    step: u64,
    /// The next lowest priority for a thread that takes a turn.
    turn: u64,
    /// The most steps of a run lately, and before that.
    longest: [u64; 2],
    run: u64,
    current: u64,
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
            turn: CHANGED,
            longest: [0; 2],
            run: 0,
            current: 1,
        }
    }

    fn expected(&self) -> u64 {
        self.longest[0].max(self.longest[1]).max(1)
    }
}

impl Policy for Pct {
    fn name(&self) -> &'static str {
        "pct"
    }

    fn begin(&mut self, _: &Coverage, draw: &mut Draw) {
        self.current = self.depth.map_or_else(|| 1 + draw.below(DEPTHS), u64::from);
        self.priorities.clear();
        self.changes.clear();
        self.step = 0;
        self.turn = CHANGED;
        let expected = self.expected();
        self.changes.extend((1..self.current).map(|_| 1 + draw.below(expected)));
    }

    fn pick(&mut self, _: &Graph, ready: &Ready, draw: &mut Draw) -> ThreadId {
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
        let thread = best.1;
        self.step += 1;
        for (index, &change) in self.changes.iter().enumerate() {
            if change == self.step {
                self.priorities[thread.index()] = CHANGED + self.current - index as u64;
            }
        }
        if self.step > self.expected() + TURN && self.step.is_multiple_of(TURN) {
            self.turn -= 1;
            self.priorities[thread.index()] = self.turn;
        }
        thread
    }

    fn end(&mut self, _: &Graph, _: &Coverage, _: bool, _: u64) {
        self.run += 1;
        self.longest[0] = self.longest[0].max(self.step);
        if self.run.is_multiple_of(RUNS_PER_ESTIMATE) {
            self.longest = [0, self.longest[0]];
        }
    }
}
