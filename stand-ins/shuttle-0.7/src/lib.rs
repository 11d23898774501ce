//! [`unpick_shuttle`] under the name of Shuttle 0.7, whose schedulers are given ids of tasks.

pub use unpick_shuttle::before::v0_7::*;
pub use unpick_shuttle::{
    Config, FailurePersistence, MaxSteps, check, check_dfs, check_pct, check_random,
    check_random_with_seed, check_uncontrolled_nondeterminism, check_urw, current, future, hint, lazy_static,
    rand, replay, replay_from_file, sync, thread, thread_local,
};
