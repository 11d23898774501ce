//! Every way to go.

use super::data::{DataSource, RandomDataSource};
use super::{Native, NativeStrategy, Schedule, Scheduler, Search, Task};
use crate::current::TaskId;

/// Every execution. As part of another scheduler: every order of steps, depth first.
#[derive(Clone, Debug)]
pub struct DfsScheduler {
    max_iterations: Option<usize>,
    allow_random_data: bool,
    iterations: usize,
    /// The tasks at each step of the last execution that are still to be taken there; the one that was is
    /// not among them.
    left: Vec<(TaskId, Vec<TaskId>)>,
    steps: usize,
    data: RandomDataSource,
}

impl DfsScheduler {
    /// So many executions at most. `allow_random_data`: the test may ask for random numbers, which are the
    /// same in each execution.
    pub fn new(max_iterations: Option<usize>, allow_random_data: bool) -> DfsScheduler {
        let data = RandomDataSource::initialize(0);
        DfsScheduler { max_iterations, allow_random_data, iterations: 0, left: Vec::new(), steps: 0, data }
    }
}

impl Scheduler for DfsScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.max_iterations.is_some_and(|most| self.iterations >= most) {
            return None;
        }
        if self.iterations > 0 {
            while self.left.pop_if(|(_, others)| others.is_empty()).is_some() {}
            let (taken, others) = self.left.last_mut()?;
            *taken = others.pop()?;
        }
        self.iterations += 1;
        self.steps = 0;
        self.data = RandomDataSource::initialize(0);
        Some(Schedule::new(self.data.reinitialize()))
    }

    fn next_task(&mut self, runnable: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        if self.steps == self.left.len() {
            let mut others: Vec<TaskId> = runnable.iter().rev().map(|task| task.id()).collect();
            let first = others.pop()?;
            self.left.push((first, others));
        }
        self.steps += 1;
        Some(self.left[self.steps - 1].0)
    }

    fn next_u64(&mut self) -> u64 {
        assert!(
            self.allow_random_data,
            "requested random data from DFS scheduler, which was made with allow_random_data = false"
        );
        self.data.next_u64()
    }

    fn native(&self) -> Option<Native> {
        let (executions, randomness) = (self.max_iterations, self.allow_random_data);
        Some(Native::Strategy(NativeStrategy { search: Search::Every, seed: 0, executions, randomness }))
    }

    fn sendable(&self) -> Option<Box<dyn Scheduler + Send>> {
        Some(Box::new(self.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_taken_once() {
        let mut scheduler = DfsScheduler::new(None, false);
        let mut orders = Vec::new();
        while scheduler.new_execution().is_some() {
            // Two tasks of two steps each.
            let (mut left, mut order) = ([2, 2], Vec::new());
            while left != [0, 0] {
                let able = (0..2).filter(|&task| left[task] > 0);
                let tasks: Vec<Task> = able.map(|task| Task::new(TaskId::from(task), None)).collect();
                let task = scheduler.next_task(&tasks.iter().collect::<Vec<_>>(), None, false).unwrap();
                left[usize::from(task)] -= 1;
                order.push(usize::from(task));
            }
            orders.push(order);
        }
        assert_eq!(orders.len(), 6);
        orders.sort();
        orders.dedup();
        assert_eq!(orders.len(), 6);
    }
}
