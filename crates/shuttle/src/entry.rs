//! The functions that run a test, one for each scheduler.

use std::path::Path;

use crate::config::Config;
use crate::runner::Runner;
use crate::scheduler::{
    DfsScheduler, PctScheduler, RandomScheduler, ReplayScheduler, RoundRobinScheduler, Scheduler,
    UncontrolledNondeterminismCheckScheduler, UrwRandomScheduler,
};

#[track_caller]
fn run<F: Fn() + Send + Sync + 'static>(scheduler: impl Scheduler + 'static, f: F) {
    Runner::new(scheduler, Config::new()).run(f);
}

/// Runs a test once, its threads one step each in turn.
///
/// # Panics
///
/// With a report, when the test fails.
#[doc(hidden)]
#[track_caller]
pub fn check<F: Fn() + Send + Sync + 'static>(f: F) {
    run(RoundRobinScheduler::new(1), f);
}

/// Runs a test in so many executions, drawn so that each order of steps is about as likely as another.
///
/// # Panics
///
/// With a report, when the test fails.
#[track_caller]
pub fn check_urw<F: Fn() + Send + Sync + 'static>(f: F, iterations: usize) {
    run(UrwRandomScheduler::new(iterations), f);
}

/// Runs a test in so many executions drawn at random.
///
/// # Panics
///
/// With a report, when the test fails.
#[track_caller]
pub fn check_random<F: Fn() + Send + Sync + 'static>(f: F, iterations: usize) {
    run(RandomScheduler::new(iterations), f);
}

/// As [`check_random`], from a seed.
///
/// # Panics
///
/// With a report, when the test fails.
#[track_caller]
pub fn check_random_with_seed<F: Fn() + Send + Sync + 'static>(f: F, seed: u64, iterations: usize) {
    run(RandomScheduler::new_from_seed(seed, iterations), f);
}

/// Runs a test in so many executions, drawn with priorities that change at `depth - 1` steps.
///
/// # Panics
///
/// With a report, when the test fails.
#[track_caller]
pub fn check_pct<F: Fn() + Send + Sync + 'static>(f: F, iterations: usize, depth: usize) {
    run(PctScheduler::new(depth, iterations), f);
}

/// Runs a test in every execution, or in so many. Orders of steps that nobody can tell apart are one
/// execution, so there are far fewer than Shuttle runs.
///
/// # Panics
///
/// With a report, when the test fails.
#[track_caller]
pub fn check_dfs<F: Fn() + Send + Sync + 'static>(f: F, max_iterations: Option<usize>) {
    run(DfsScheduler::new(max_iterations, false), f);
}

/// Runs a test in so many executions drawn at random, each of them twice.
///
/// # Panics
///
/// When the test behaves differently the second time; with a report, when it fails.
#[track_caller]
pub fn check_uncontrolled_nondeterminism<F: Fn() + Send + Sync + 'static>(f: F, max_iterations: usize) {
    run(UncontrolledNondeterminismCheckScheduler::new(RandomScheduler::new(max_iterations)), f);
}

/// Runs the execution of a schedule that a failing test has shown.
///
/// # Panics
///
/// With a report, when the test fails; with a reason, when the schedule is not unpick's.
#[track_caller]
pub fn replay<F: Fn() + Send + Sync + 'static>(f: F, encoded_schedule: &str) {
    run(ReplayScheduler::new_from_encoded(encoded_schedule), f);
}

/// As [`replay`], for a schedule in a file.
///
/// # Panics
///
/// As [`replay`], and when the file cannot be read.
#[track_caller]
pub fn replay_from_file<F: Fn() + Send + Sync + 'static, P: AsRef<Path>>(f: F, path: P) {
    let path = path.as_ref();
    let scheduler = ReplayScheduler::new_from_file(path);
    let scheduler = scheduler
        .unwrap_or_else(|error| panic!("the schedule in {} cannot be read: {error}", path.display()));
    run(scheduler, f);
}

/// As [`replay`], and writes the report of what went wrong to the file that
/// [`ANNOTATION_FILE`](crate::ANNOTATION_FILE) names, as JSON, or to `annotated.json`.
///
/// # Panics
///
/// As [`replay`], and when the file cannot be written.
#[cfg(feature = "annotation")]
#[track_caller]
pub fn annotate_replay<F: Fn() + Send + Sync + 'static>(f: F, encoded_schedule: &str) {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    let replayed = catch_unwind(AssertUnwindSafe(|| replay(f, encoded_schedule)));
    if let Some(finding) = crate::runner::last_finding() {
        let path = std::env::var(crate::ANNOTATION_FILE).unwrap_or_else(|_| String::from("annotated.json"));
        let written = std::fs::write(&path, format!("{:#}\n", unpick::report::json(&finding)));
        written.unwrap_or_else(|error| panic!("{path} cannot be written: {error}"));
    }
    if let Err(payload) = replayed {
        resume_unwind(payload);
    }
}
