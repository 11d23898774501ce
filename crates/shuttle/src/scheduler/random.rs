//! Any task that can move, each alike.

use super::data::{DataSource, Random, RandomDataSource, seed};
use super::{Native, Schedule, Scheduler, Task};
use crate::current::TaskId;

/// At each step any task that can move, each alike.
#[derive(Clone, Debug)]
pub struct RandomScheduler {
    seed: u64,
    max_iterations: usize,
    iterations: usize,
    random: Random,
    data: RandomDataSource,
}

impl RandomScheduler {
    /// So many executions, from a seed of the environment (`SHUTTLE_RANDOM_SEED`) or of the system.
    pub fn new(max_iterations: usize) -> RandomScheduler {
        RandomScheduler::new_from_seed(seed(), max_iterations)
    }

    /// So many executions, from this seed.
    pub fn new_from_seed(seed: u64, max_iterations: usize) -> RandomScheduler {
        let data = RandomDataSource::initialize(seed);
        RandomScheduler { seed, max_iterations, iterations: 0, random: Random(seed), data }
    }
}

impl Scheduler for RandomScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.iterations >= self.max_iterations {
            return None;
        }
        self.iterations += 1;
        let seed = self.data.reinitialize();
        self.random = Random(seed);
        Some(Schedule::new(seed))
    }

    fn next_task(&mut self, runnable: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        Some(runnable[self.random.below(runnable.len())].id())
    }

    fn next_u64(&mut self) -> u64 {
        self.data.next_u64()
    }

    fn native(&self) -> Option<Native> {
        Some(Native::drawing("random", self.seed, self.max_iterations))
    }

    fn sendable(&self) -> Option<Box<dyn Scheduler + Send>> {
        Some(Box::new(self.clone()))
    }
}
