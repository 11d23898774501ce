//! [`unpick_shuttle`] under the name of Shuttle 0.6, whose schedulers are given ids of tasks, and whose tags are numbers.

pub use unpick_shuttle::before::v0_6::*;
pub use unpick_shuttle::{
    Config, FailurePersistence, MaxSteps, check, check_dfs, check_pct, check_random,
    check_random_with_seed, check_uncontrolled_nondeterminism, check_urw, future, hint, lazy_static, rand,
    replay, replay_from_file, sync, thread, thread_local,
};
