//! Schedulers: who decides which thread moves.
//!
//! Those of Shuttle are here under their names, and are unpick's own strategies where a [`Runner`] has
//! them directly: [`RandomScheduler`] is `random`, [`PctScheduler`] is `pct`, [`UrwRandomScheduler`] is `urw`,
//! and [`DfsScheduler`] is `optimal`, which explores every execution and not every interleaving.
//!
//! A [`Scheduler`] of one's own is asked before every step, as in Shuttle. It decides about threads only:
//! memory is sequentially consistent then, whatever the settings say.
//!
//! [`Runner`]: crate::Runner

mod annotation;
mod data;
mod dfs;
mod pct;
mod random;
mod replay;
mod round_robin;
mod task;
mod uncontrolled;
mod urw;

use std::fmt::Debug;

pub use crate::current::TaskId;
pub use annotation::AnnotationScheduler;
pub use data::{DataSource, RandomDataSource};
pub use dfs::DfsScheduler;
pub use pct::PctScheduler;
pub use random::RandomScheduler;
pub use replay::ReplayScheduler;
pub use round_robin::RoundRobinScheduler;
pub use task::Task;
pub use uncontrolled::UncontrolledNondeterminismCheckScheduler;
pub use urw::UrwRandomScheduler;

/// A step of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleStep {
    /// A task moves.
    Task(TaskId),
    /// The task that runs asks for a random number.
    Random,
}

/// Which task moves at each step of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Where random numbers start.
    pub seed: u64,
    /// The steps.
    pub steps: Vec<ScheduleStep>,
}

impl Schedule {
    /// A schedule without steps.
    pub fn new(seed: u64) -> Schedule {
        Schedule { seed, steps: Vec::new() }
    }

    /// A schedule in which these tasks move.
    pub fn new_from_task_ids<T: Into<TaskId>>(seed: u64, tasks: impl IntoIterator<Item = T>) -> Schedule {
        Schedule { seed, steps: tasks.into_iter().map(|task| ScheduleStep::Task(task.into())).collect() }
    }

    /// Adds the step of a task.
    pub fn push_task(&mut self, task: TaskId) {
        self.steps.push(ScheduleStep::Task(task));
    }

    /// Adds a random number.
    pub fn push_random(&mut self) {
        self.steps.push(ScheduleStep::Random);
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// What unpick is to do instead of asking a scheduler.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Native {
    /// A strategy.
    Strategy(NativeStrategy),
    /// One execution, by unpick's schedule of it.
    Replay {
        /// The schedule, as text.
        token: String,
    },
}

impl Native {
    /// A strategy that draws executions.
    pub(crate) fn drawing(name: &str, seed: u64, executions: usize) -> Native {
        let search = Search::Drawn(String::from(name));
        Native::Strategy(NativeStrategy { search, seed, executions: Some(executions), randomness: true })
    }
}

/// A strategy of unpick's.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeStrategy {
    /// Which executions.
    pub search: Search,
    /// Where random numbers start.
    pub seed: u64,
    /// Executions at most.
    pub executions: Option<usize>,
    /// Whether the program may ask for random numbers.
    pub randomness: bool,
}

/// Which executions a strategy is after.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// Every one.
    Every,
    /// Those that the strategy of this name draws.
    Drawn(String),
}

/// Decides which task moves at each step.
pub trait Scheduler {
    /// An execution begins; `None`: there are to be no more.
    fn new_execution(&mut self) -> Option<Schedule>;

    /// The task that moves, one of those that can; `None` ends the execution here.
    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
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
    fn sendable(&self) -> Option<Box<dyn Scheduler + Send>> {
        None
    }
}

impl Scheduler for Box<dyn Scheduler + Send> {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.as_mut().new_execution()
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        self.as_mut().next_task(runnable_tasks, current_task, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.as_mut().next_u64()
    }

    fn native(&self) -> Option<Native> {
        self.as_ref().native()
    }

    fn sendable(&self) -> Option<Box<dyn Scheduler + Send>> {
        self.as_ref().sendable()
    }
}
