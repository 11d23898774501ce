//! One task after another.

use super::data::{DataSource, RandomDataSource};
use super::{Schedule, Scheduler, Task};
use crate::current::TaskId;

/// At each step the next task in the order of their numbers.
#[derive(Clone, Debug)]
pub struct RoundRobinScheduler {
    max_iterations: usize,
    iterations: usize,
    data: RandomDataSource,
}

impl RoundRobinScheduler {
    /// So many executions, which are all the same unless the test asks for random numbers.
    pub fn new(max_iterations: usize) -> RoundRobinScheduler {
        RoundRobinScheduler { max_iterations, iterations: 0, data: RandomDataSource::initialize(0) }
    }
}

impl Default for RoundRobinScheduler {
    fn default() -> RoundRobinScheduler {
        RoundRobinScheduler::new(1)
    }
}

impl Scheduler for RoundRobinScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.iterations >= self.max_iterations {
            return None;
        }
        self.iterations += 1;
        Some(Schedule::new(self.data.reinitialize()))
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, _: bool) -> Option<TaskId> {
        let later = runnable.iter().find(|task| current.is_some_and(|current| task.id() > current));
        later.or(runnable.first()).map(|task| task.id())
    }

    fn next_u64(&mut self) -> u64 {
        self.data.next_u64()
    }

    fn sendable(&self) -> Option<Box<dyn Scheduler + Send>> {
        Some(Box::new(self.clone()))
    }
}
