//! The tools: how each one is told to explore a test.

use crate::limits::Limits;
use crate::line::{cpu_seconds, line};
use crate::programs::Test;
use std::panic::PanicHookInfo;
use std::process::exit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

mod loom_side {
    use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
    use loom::sync::{Arc, Mutex};
    use loom::{hint::spin_loop, thread};
    crate::programs::programs!();
}

/// Loom again, with an `Arc` that it does not see: loom explores the orders in which handles to its own
/// are dropped, which no optimal number of executions counts.
mod loom_std_arc_side {
    use loom::sync::Mutex;
    use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
    use loom::{hint::spin_loop, thread};
    use std::sync::Arc;
    crate::programs::programs!();
}

mod shuttle_side {
    use shuttle::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
    use shuttle::sync::{Arc, Mutex};
    use shuttle::{hint::spin_loop, thread};
    crate::programs::programs!();
}

/// Branch points loom may pass in one execution before it gives up on it.
const LOOM_BRANCHES: usize = 100_000;

/// Executions of a sampling tool when the command line names no number.
const SAMPLES: u64 = 100_000;

/// Where shuttle's random choices start, the same in every process.
const SEED: u64 = 0x5eed;

/// How often the watchdog looks at the clock.
const TICK: Duration = Duration::from_millis(10);

/// A tool: its name, the bodies written with its types, and how it explores one.
pub(crate) struct Tool {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// The most threads a test may have, main included.
    max_threads: usize,
    /// The body of a test.
    program: fn(&str) -> Option<fn()>,
    /// Explores a test, calling it once per execution. Returns when the tool is through on its own.
    explore: fn(&'static Exploration),
    /// What `finished` means, where it is not that every execution was covered.
    note: &'static str,
}

/// Every tool.
pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        name: "loom",
        max_threads: loom::MAX_THREADS,
        program: loom_side::program,
        explore: explore_with_loom,
        note: "",
    },
    Tool {
        name: "loom-std-arc",
        max_threads: loom::MAX_THREADS,
        program: loom_std_arc_side::program,
        explore: explore_with_loom,
        note: "",
    },
    Tool {
        name: "shuttle-dfs",
        max_threads: usize::MAX,
        program: shuttle_side::program,
        explore: |exploration| {
            let scheduler = shuttle::scheduler::DfsScheduler::new(None, false);
            shuttle::Runner::new(scheduler, shuttle_config()).run(|| exploration.execution());
        },
        note: "sequentially consistent executions only",
    },
    Tool {
        name: "shuttle-random",
        max_threads: usize::MAX,
        program: shuttle_side::program,
        explore: |exploration| {
            let runs = usize::try_from(exploration.limits.runs.unwrap_or(SAMPLES)).unwrap_or(usize::MAX);
            let scheduler = shuttle::scheduler::RandomScheduler::new_from_seed(SEED, runs);
            shuttle::Runner::new(scheduler, shuttle_config()).run(|| exploration.execution());
        },
        note: "sampled",
    },
];

/// Loom without a bound of any kind, whatever its environment variables say.
fn explore_with_loom(exploration: &'static Exploration) {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = LOOM_BRANCHES;
    builder.max_permutations = None;
    builder.max_duration = None;
    builder.preemption_bound = None;
    builder.checkpoint_file = None;
    builder.location = false;
    builder.log = false;
    builder.check(|| exploration.execution());
}

fn shuttle_config() -> shuttle::Config {
    let mut config = shuttle::Config::new();
    config.failure_persistence = shuttle::FailurePersistence::None;
    config.silence_warnings = true;
    config
}

/// One test being explored by one tool; there is one per process.
pub(crate) struct Exploration {
    tool: &'static Tool,
    test: &'static Test,
    program: fn(),
    limits: Limits,
    /// CPU seconds on the clock when the exploration began.
    start: f64,
    /// Executions begun.
    executions: AtomicU64,
    /// Set by the watchdog when the time is up.
    late: AtomicBool,
    /// Set by whoever prints the line.
    reported: AtomicBool,
}

static EXPLORATION: OnceLock<Exploration> = OnceLock::new();

impl Exploration {
    /// One execution of the test. Does not return to the tool when a limit has been reached.
    fn execution(&self) {
        let before = self.executions.fetch_add(1, Relaxed);
        if self.late.load(Relaxed) {
            self.report_and_exit(before, false, "stopped at the time limit");
        }
        if self.limits.runs.is_some_and(|runs| before >= runs) {
            self.report_and_exit(before, false, "stopped at the limit of runs");
        }
        (self.program)();
    }

    /// Stops the exploration at the next execution once the time is up, or there and then when no
    /// execution begins for as long again.
    fn watch(&self, seconds: f64) {
        loop {
            std::thread::sleep(TICK);
            let spent = cpu_seconds() - self.start;
            self.late.store(spent >= seconds, Relaxed);
            if spent >= 2.0 * seconds + 1.0 {
                let note = "stopped at the time limit within an execution";
                self.report_and_exit(self.executions.load(Relaxed), false, note);
            }
        }
    }

    /// Prints the line and ends the process; the tools have no other way to stop from within.
    fn report_and_exit(&self, executions: u64, finished: bool, note: &str) -> ! {
        let spent = cpu_seconds() - self.start;
        if self.reported.swap(true, Relaxed) {
            loop {
                std::thread::park();
            }
        }
        println!("{}", line(self.tool.name, self.test.name, executions, spent, finished, note));
        exit(0)
    }
}

/// Explores `test` with `tool`, prints the line and ends the process.
pub(crate) fn run(tool: &'static Tool, test: &'static Test, limits: Limits) -> ! {
    let Some(program) = (tool.program)(test.name) else {
        println!("{}", line(tool.name, test.name, 0, 0.0, false, "the tool has no such test"));
        exit(0)
    };
    if test.threads > tool.max_threads {
        let note = format!("needs {} threads, the tool has {}", test.threads, tool.max_threads);
        println!("{}", line(tool.name, test.name, 0, 0.0, false, &note));
        exit(0)
    }
    std::panic::set_hook(Box::new(alarm));
    let exploration = EXPLORATION.get_or_init(|| Exploration {
        tool,
        test,
        program,
        limits,
        start: cpu_seconds(),
        executions: AtomicU64::new(0),
        late: AtomicBool::new(false),
        reported: AtomicBool::new(false),
    });
    if let Some(seconds) = limits.seconds {
        std::thread::spawn(move || exploration.watch(seconds));
    }
    (tool.explore)(exploration);
    exploration.report_and_exit(exploration.executions.load(Relaxed), true, tool.note)
}

/// The panic hook. No test panics by itself, so a panic with a message is the tool giving up or
/// raising an alarm; it goes into the line. (A payload that is no message is how loom unwinds the
/// stacks it drops.)
fn alarm(info: &PanicHookInfo<'_>) {
    let (Some(message), Some(exploration)) = (info.payload_as_str(), EXPLORATION.get()) else {
        return;
    };
    let first = message.trim_start().lines().next().unwrap_or_default();
    exploration.report_and_exit(exploration.executions.load(Relaxed), false, &format!("alarm: {first}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::TESTS;

    #[test]
    fn every_tool_has_every_test() {
        for tool in TOOLS {
            for test in TESTS {
                assert!((tool.program)(test.name).is_some(), "{} {}", tool.name, test.name);
            }
        }
    }
}
