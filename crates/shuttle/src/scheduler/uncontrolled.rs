//! Each execution twice, to see whether it is the same.

use super::{Schedule, Scheduler, Task};
use crate::current::TaskId;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Decision {
    Task { runnable: Vec<TaskId>, yields: bool, chosen: Option<TaskId> },
    Random(u64),
}

/// Runs each execution of another scheduler a second time, and panics if the test behaves differently: it
/// has something random in it that the scheduler does not control.
#[derive(Debug)]
pub struct UncontrolledNondeterminismCheckScheduler<S: Scheduler> {
    scheduler: S,
    first: Vec<Decision>,
    /// How far the second run is; `None` in the first.
    at: Option<usize>,
}

impl<S: Scheduler> UncontrolledNondeterminismCheckScheduler<S> {
    /// Checks the executions of a scheduler.
    pub fn new(scheduler: S) -> UncontrolledNondeterminismCheckScheduler<S> {
        UncontrolledNondeterminismCheckScheduler { scheduler, first: Vec::new(), at: Some(0) }
    }

    /// The next decision of the first run, of which this is to be a repetition.
    fn expected(&mut self) -> Option<Decision> {
        let at = self.at.as_mut()?;
        let Some(decision) = self.first.get(*at) else {
            panic!(
                "possible nondeterminism: current execution should have ended after {} steps, as the one before",
                self.first.len()
            );
        };
        *at += 1;
        Some(decision.clone())
    }
}

impl<S: Scheduler> Scheduler for UncontrolledNondeterminismCheckScheduler<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        match self.at {
            None => {
                self.at = Some(0);
                Some(Schedule::new(0))
            }
            Some(steps) => {
                let before = self.first.len();
                assert!(
                    steps == before,
                    "possible nondeterminism: current execution ended earlier than expected, after {steps} steps of \
                     {before}"
                );
                self.first.clear();
                self.at = None;
                self.scheduler.new_execution()
            }
        }
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        let runnable: Vec<TaskId> = tasks.iter().map(|task| task.id()).collect();
        match self.expected() {
            None => {
                let chosen = self.scheduler.next_task(tasks, current, yields);
                self.first.push(Decision::Task { runnable, yields, chosen });
                chosen
            }
            Some(Decision::Task { runnable: before, yields: yielded, chosen }) => {
                assert!(
                    before == runnable,
                    "possible nondeterminism: set of runnable tasks is different than expected: tasks {before:?} could \
                     move, and now {runnable:?} can"
                );
                assert!(
                    yielded == yields,
                    "possible nondeterminism: `next_task` was called with `is_yielding` {yielded}, and now with {yields}"
                );
                chosen
            }
            Some(Decision::Random(_)) => {
                panic!(
                    "possible nondeterminism: next step was context switch, but recording expected random number \
                     generation"
                )
            }
        }
    }

    fn next_u64(&mut self) -> u64 {
        match self.expected() {
            None => {
                let number = self.scheduler.next_u64();
                self.first.push(Decision::Random(number));
                number
            }
            Some(Decision::Random(number)) => number,
            Some(Decision::Task { .. }) => {
                panic!(
                    "possible nondeterminism: next step was random number generation, but recording expected \
                     context switch"
                )
            }
        }
    }

    fn sendable(&self) -> Option<Box<dyn Scheduler + Send>> {
        let scheduler = self.scheduler.sendable()?;
        let first = self.first.clone();
        Some(Box::new(UncontrolledNondeterminismCheckScheduler { scheduler, first, at: self.at }))
    }
}
