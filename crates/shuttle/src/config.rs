//! Settings of a check.

use std::path::PathBuf;
use std::time::Duration;

/// Settings of a check. [`Config::new`] has the defaults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Bytes of stack for each thread: what is set here, but 256 KiB at least.
    pub stack_size: usize,
    /// What becomes of the schedule of a failing execution.
    pub failure_persistence: FailurePersistence,
    /// Steps of one execution at most.
    pub max_steps: MaxSteps,
    /// Time at most for all executions.
    pub max_time: Option<Duration>,
    /// Has no effect: there are no warnings.
    pub silence_warnings: bool,
    /// Has no effect: there are no spans.
    pub record_steps_in_span: bool,
    /// Has no effect: an execution that fails is over at once, and what its threads hold is left alone.
    pub ungraceful_shutdown_config: UngracefulShutdownConfig,
    /// Whether to check under the memory model of C++20 instead of sequential consistency. Not a setting of
    /// Shuttle.
    pub weak_memory: bool,
    /// Whether [`check_dfs`](crate::check_dfs) runs every order of steps, as Shuttle does, and not one of each
    /// set that nobody can tell apart who looks at objects of this crate only. For tests whose threads
    /// share other things. `UNPICK_EVERY_ORDER=1` in the environment does so for all tests. Not a setting of Shuttle.
    pub every_order: bool,
}

impl Config {
    /// The defaults.
    pub fn new() -> Config {
        Config {
            stack_size: 0xf000,
            failure_persistence: FailurePersistence::Print,
            max_steps: MaxSteps::FailAfter(1_000_000),
            max_time: None,
            silence_warnings: false,
            record_steps_in_span: false,
            ungraceful_shutdown_config: UngracefulShutdownConfig::new(),
            weak_memory: false,
            every_order: false,
        }
    }

    /// Whether every order of steps is to be run, once the environment has had its say.
    pub(crate) fn runs_every_order(&self) -> bool {
        self.every_order || std::env::var_os("UNPICK_EVERY_ORDER").is_some_and(|value| value == "1")
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::new()
    }
}

/// What becomes of the schedule of a failing execution.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePersistence {
    /// Nothing: the message does not have it.
    None,
    /// The message has it, for [`replay`](crate::replay).
    Print,
    /// It goes to a file in this directory, or in the current one, for
    /// [`replay_from_file`](crate::replay_from_file).
    File(Option<PathBuf>),
}

/// Steps of one execution at most. A step is an operation on something that threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaxSteps {
    /// Any number.
    None,
    /// A longer execution fails the test.
    FailAfter(usize),
    /// A longer execution is cut, and the next one begins.
    ContinueAfter(usize),
}

/// What becomes of what threads hold that have not run when an execution fails.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum ContinuationFunctionBehavior {
    /// It is dropped. Here it is leaked all the same.
    Drop,
    /// It is leaked.
    #[default]
    Leak,
}

impl ContinuationFunctionBehavior {
    /// The default.
    pub const fn new() -> ContinuationFunctionBehavior {
        ContinuationFunctionBehavior::Leak
    }
}

/// How an execution that fails comes to its end. None of it has an effect here.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct UngracefulShutdownConfig {
    /// Whether the execution ends with the panic, or when the thread has unwound. Here it always unwinds.
    pub immediately_return_on_panic: bool,
    /// What becomes of what threads hold that have not run.
    pub continuation_function_behavior: ContinuationFunctionBehavior,
}

impl UngracefulShutdownConfig {
    /// The defaults.
    pub const fn new() -> UngracefulShutdownConfig {
        UngracefulShutdownConfig {
            immediately_return_on_panic: false,
            continuation_function_behavior: ContinuationFunctionBehavior::new(),
        }
    }
}
