//! Schedulers that are given ids of tasks, and the runners that take them.

use std::fmt;

use crate::config::Config;
use crate::current::TaskId;
use crate::scheduler::{self as now, Native, Schedule, Task};

/// Decides which task moves at each step.
pub trait Scheduler {
    /// An execution begins; `None`: there are to be no more.
    fn new_execution(&mut self) -> Option<Schedule>;

    /// The task that moves, one of those that can; `None` ends the execution here.
    fn next_task(
        &mut self,
        runnable_tasks: &[TaskId],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId>;

    /// A random number for the test.
    fn next_u64(&mut self) -> u64;

    /// What unpick is to do instead of asking this scheduler. Only those of this crate say something.
    #[doc(hidden)]
    fn native(&self) -> Option<Native> {
        None
    }

    /// A copy of the scheduler, as it is now, that may be asked on another OS thread. Only those of this crate have one.
    #[doc(hidden)]
    fn sendable(&self) -> Option<Box<dyn now::Scheduler + Send>> {
        None
    }
}

/// Shuttle's own schedulers are schedulers of every version.
macro_rules! of_every_version {
    ($($name:ident)*) => {$(
        impl Scheduler for now::$name {
            fn new_execution(&mut self) -> Option<Schedule> {
                now::Scheduler::new_execution(self)
            }

            fn next_task(&mut self, ids: &[TaskId], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
                let tasks: Vec<Task> = ids.iter().map(|&id| Task::new(id, None)).collect();
                now::Scheduler::next_task(self, &tasks.iter().collect::<Vec<_>>(), current, yields)
            }

            fn next_u64(&mut self) -> u64 {
                now::Scheduler::next_u64(self)
            }

            fn native(&self) -> Option<Native> {
                now::Scheduler::native(self)
            }

            fn sendable(&self) -> Option<Box<dyn now::Scheduler + Send>> {
                now::Scheduler::sendable(self)
            }
        }
    )*};
}

of_every_version! {
    DfsScheduler PctScheduler RandomScheduler ReplayScheduler RoundRobinScheduler UrwRandomScheduler
}

impl Scheduler for Box<dyn Scheduler + Send> {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.as_mut().new_execution()
    }

    fn next_task(&mut self, ids: &[TaskId], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        self.as_mut().next_task(ids, current, yields)
    }

    fn next_u64(&mut self) -> u64 {
        self.as_mut().next_u64()
    }

    fn native(&self) -> Option<Native> {
        self.as_ref().native()
    }

    fn sendable(&self) -> Option<Box<dyn now::Scheduler + Send>> {
        self.as_ref().sendable()
    }
}

/// A scheduler of an earlier version, as one of now.
#[derive(Debug)]
struct Adapted<S>(S);

impl<S: Scheduler> now::Scheduler for Adapted<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.0.new_execution()
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        let ids: Vec<TaskId> = tasks.iter().map(|task| task.id()).collect();
        self.0.next_task(&ids, current, yields)
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn native(&self) -> Option<Native> {
        self.0.native()
    }

    fn sendable(&self) -> Option<Box<dyn now::Scheduler + Send>> {
        self.0.sendable()
    }
}

/// Runs each execution of another scheduler a second time, and panics if the test behaves differently.
#[derive(Debug)]
pub struct UncontrolledNondeterminismCheckScheduler<S: Scheduler>(
    now::UncontrolledNondeterminismCheckScheduler<Adapted<S>>,
);

impl<S: Scheduler> UncontrolledNondeterminismCheckScheduler<S> {
    /// Checks the executions of a scheduler.
    pub fn new(scheduler: S) -> UncontrolledNondeterminismCheckScheduler<S> {
        UncontrolledNondeterminismCheckScheduler(now::UncontrolledNondeterminismCheckScheduler::new(Adapted(
            scheduler,
        )))
    }
}

impl<S: Scheduler> Scheduler for UncontrolledNondeterminismCheckScheduler<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        now::Scheduler::new_execution(&mut self.0)
    }

    fn next_task(&mut self, ids: &[TaskId], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        let tasks: Vec<Task> = ids.iter().map(|&id| Task::new(id, None)).collect();
        now::Scheduler::next_task(&mut self.0, &tasks.iter().collect::<Vec<_>>(), current, yields)
    }

    fn next_u64(&mut self) -> u64 {
        now::Scheduler::next_u64(&mut self.0)
    }

    fn sendable(&self) -> Option<Box<dyn now::Scheduler + Send>> {
        now::Scheduler::sendable(&self.0)
    }
}

/// Runs a test under a scheduler.
pub struct Runner<S: Scheduler>(crate::Runner<Adapted<S>>);

impl<S: Scheduler + 'static> Runner<S> {
    /// A runner.
    pub fn new(scheduler: S, config: Config) -> Runner<S> {
        Runner(crate::Runner::new(Adapted(scheduler), config))
    }

    /// Runs the test, and returns how many executions there were.
    ///
    /// # Panics
    ///
    /// With a report, when the test fails.
    #[track_caller]
    pub fn run<F>(self, f: F) -> usize
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.0.run(f)
    }
}

impl<S: Scheduler> fmt::Debug for Runner<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Runs a test under several schedulers, each on an OS thread.
#[derive(Debug)]
pub struct PortfolioRunner(crate::PortfolioRunner);

impl PortfolioRunner {
    /// A runner without schedulers. `stop_on_first_failure`: when one has found a failure, executions of the
    /// others are over as soon as they begin.
    pub fn new(stop_on_first_failure: bool, config: Config) -> PortfolioRunner {
        PortfolioRunner(crate::PortfolioRunner::new(stop_on_first_failure, config))
    }

    /// Adds a scheduler.
    pub fn add(&mut self, scheduler: impl Scheduler + Send + 'static) {
        self.0.add(Adapted(scheduler));
    }

    /// Runs the test under all of them.
    ///
    /// # Panics
    ///
    /// With the report of one that found a failure.
    pub fn run<F>(self, f: F)
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.0.run(f);
    }
}
