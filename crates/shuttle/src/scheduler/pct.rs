//! Priorities that change a few times.

use std::collections::BTreeMap;

use super::data::{DataSource, Random, RandomDataSource, seed};
use super::{Native, Schedule, Scheduler, Task};
use crate::current::TaskId;

/// The task of the highest priority moves; priorities are drawn, and at a few steps the one that moves gets
/// the lowest (Burckhardt and others, 2010).
#[derive(Clone, Debug)]
pub struct PctScheduler {
    seed: u64,
    max_iterations: usize,
    depth: usize,
    iterations: usize,
    random: Random,
    data: RandomDataSource,
    priorities: BTreeMap<TaskId, u64>,
    /// The steps after which priorities change.
    changes: Vec<usize>,
    steps: usize,
    most_steps: usize,
    lowest: u64,
}

/// Priorities that tasks start with are above this; those that they get later below.
const START: u64 = 1 << 32;

impl PctScheduler {
    /// What unpick calls it.
    pub(crate) const STRATEGY: &'static str = "pct";

    /// So many executions, for bugs of this depth: priorities change at one step less.
    pub fn new(max_depth: usize, max_iterations: usize) -> PctScheduler {
        PctScheduler::new_from_seed(seed(), max_depth, max_iterations)
    }

    /// As [`new`](PctScheduler::new), from a seed.
    ///
    /// # Panics
    ///
    /// When the depth is 0.
    pub fn new_from_seed(seed: u64, max_depth: usize, max_iterations: usize) -> PctScheduler {
        assert!(max_depth > 0, "there are no bugs of depth 0");
        PctScheduler {
            seed,
            max_iterations,
            depth: max_depth,
            iterations: 0,
            random: Random(seed),
            data: RandomDataSource::initialize(seed),
            priorities: BTreeMap::new(),
            changes: Vec::new(),
            steps: 0,
            most_steps: 1,
            lowest: START,
        }
    }
}

impl Scheduler for PctScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.iterations >= self.max_iterations {
            return None;
        }
        self.iterations += 1;
        let seed = self.data.reinitialize();
        self.random = Random(seed);
        self.most_steps = self.most_steps.max(self.steps);
        self.steps = 0;
        self.priorities.clear();
        self.lowest = START;
        self.changes = (1..self.depth).map(|_| self.random.below(self.most_steps)).collect();
        Some(Schedule::new(seed))
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        for task in runnable {
            let random = &mut self.random;
            self.priorities.entry(task.id()).or_insert_with(|| START + random.next() % START);
        }
        if (self.changes.contains(&self.steps) || yields)
            && let Some(current) = current
        {
            self.lowest -= 1;
            self.priorities.insert(current, self.lowest);
        }
        self.steps += 1;
        runnable.iter().map(|task| task.id()).max_by_key(|task| self.priorities[task])
    }

    fn next_u64(&mut self) -> u64 {
        self.data.next_u64()
    }

    fn native(&self) -> Option<Native> {
        let name = format!("{}:{}", PctScheduler::STRATEGY, self.depth);
        Some(Native::drawing(&name, self.seed, self.max_iterations))
    }

    fn sendable(&self) -> Option<Box<dyn Scheduler + Send>> {
        Some(Box::new(self.clone()))
    }
}
