//! Tasks by how much they have left to do.

use std::collections::BTreeMap;

use super::data::{DataSource, Random, RandomDataSource, seed};
use super::{Native, Schedule, Scheduler, Task};
use crate::current::TaskId;

/// Any task that can move, in proportion to the steps that it has left: so that each order of steps is as
/// likely as another (Zhao and others, 2025). How many there are is learned from the first execution.
#[derive(Clone, Debug)]
pub struct UrwRandomScheduler {
    seed: u64,
    max_iterations: usize,
    iterations: usize,
    random: Random,
    data: RandomDataSource,
    /// The steps of each task in this execution, and the most in one before.
    taken: BTreeMap<TaskId, usize>,
    expected: BTreeMap<TaskId, usize>,
}

impl UrwRandomScheduler {
    /// So many executions, from a seed of the environment (`SHUTTLE_RANDOM_SEED`) or of the system.
    pub fn new(max_iterations: usize) -> UrwRandomScheduler {
        UrwRandomScheduler::new_from_seed(seed(), max_iterations)
    }

    /// So many executions, from this seed.
    pub fn new_from_seed(seed: u64, max_iterations: usize) -> UrwRandomScheduler {
        UrwRandomScheduler {
            seed,
            max_iterations,
            iterations: 0,
            random: Random(seed),
            data: RandomDataSource::initialize(seed),
            taken: BTreeMap::new(),
            expected: BTreeMap::new(),
        }
    }

    fn weight(&self, task: TaskId) -> usize {
        let count = |steps: &BTreeMap<TaskId, usize>| steps.get(&task).copied().unwrap_or(0);
        count(&self.expected).saturating_sub(count(&self.taken)).max(1)
    }
}

impl Scheduler for UrwRandomScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.iterations >= self.max_iterations {
            return None;
        }
        self.iterations += 1;
        for (task, steps) in std::mem::take(&mut self.taken) {
            let most = self.expected.entry(task).or_default();
            *most = steps.max(*most);
        }
        let seed = self.data.reinitialize();
        self.random = Random(seed);
        Some(Schedule::new(seed))
    }

    fn next_task(&mut self, runnable: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        let total = runnable.iter().map(|task| self.weight(task.id())).sum();
        let mut drawn = self.random.below(total);
        let chosen = runnable.iter().map(|task| task.id()).find(|&task| {
            let weight = self.weight(task);
            let found = drawn < weight;
            drawn = drawn.saturating_sub(weight);
            found
        })?;
        *self.taken.entry(chosen).or_default() += 1;
        Some(chosen)
    }

    fn next_u64(&mut self) -> u64 {
        self.data.next_u64()
    }

    fn native(&self) -> Option<Native> {
        Some(Native::drawing("urw", self.seed, self.max_iterations))
    }

    fn sendable(&self) -> Option<Box<dyn Scheduler + Send>> {
        Some(Box::new(self.clone()))
    }
}
