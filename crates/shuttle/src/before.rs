//! What earlier versions of Shuttle have in another form, for the stand-ins of those versions.
//!
//! Until 0.7 a scheduler is given ids of tasks and not tasks, and in 0.6 a tag is a number. What came later than a version is there
//! all the same: it does not keep older tests from building.

mod scheduler;
mod tag;

/// [`shuttle`](crate) as its users see 0.7.
pub mod v0_7 {
    pub use super::scheduler::{PortfolioRunner, Runner};

    /// Schedulers.
    pub mod scheduler {
        pub use super::super::scheduler::{Scheduler, UncontrolledNondeterminismCheckScheduler};
        pub use crate::scheduler::{
            DataSource, DfsScheduler, PctScheduler, RandomDataSource, RandomScheduler, ReplayScheduler,
            RoundRobinScheduler, Schedule, TaskId, UrwRandomScheduler,
        };
    }
}

/// [`shuttle`](crate) as its users see 0.6.
pub mod v0_6 {
    pub use super::v0_7::*;

    /// The execution that a test runs in.
    pub mod current {
        pub use super::super::tag::{Tag, get_tag_for_current_task, set_tag_for_current_task};
        pub use crate::current::{
            TaskId, VectorClock, clock, clock_for, context_switches, get_current_task, get_name_for_task, me,
            set_name_for_task,
        };
    }
}
