//! Tests as processes, with their CPU time.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use nix::sys::time::{TimeVal, TimeValLike};

use super::fetch::Built;
use crate::Problem;
use crate::shell::show;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestResult {
    Passed,
    Failed,
    /// It took as much CPU as it may.
    Capped,
}

impl fmt::Display for TestResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TestResult::Passed => "",
            TestResult::Failed => "FAILED",
            TestResult::Capped => "capped",
        })
    }
}

/// A test that was run.
pub(super) struct Run {
    /// CPU seconds, of user and system; of a short test only what it takes beyond one that does nothing.
    pub(super) cpu: f64,
    pub(super) result: TestResult,
}

impl Run {
    pub(super) fn is_fine(&self) -> bool {
        self.result == TestResult::Passed
    }

    pub(super) fn is_capped(&self) -> bool {
        self.result == TestResult::Capped
    }
}

/// The signals by which the limit on CPU ends a process, softly or not.
const CAPPED: [i32; 2] = [Signal::SIGXCPU as i32, Signal::SIGKILL as i32];

/// A test that takes less CPU seconds than this is short.
const SHORT: f64 = 0.1;

/// How often a short test is run, depending on the CPU seconds that it takes.
fn repetitions(cpu: f64) -> usize {
    (0.9 / cpu).clamp(20.0, 300.0) as usize
}

/// A test that takes more CPU seconds than this is run once.
const LONG: f64 = 10.0;

/// How often a test that is neither short nor long is run.
const FEW: usize = 3;

/// The least that can be told from nothing, in CPU seconds.
const LEAST: f64 = 20e-6;

/// What no test is called.
const NO_TEST: &str = "no test has this name";

/// Runs a test with a limit on its CPU seconds. A short one is run many times, and one that is not long a few times,
/// of which the quickest counts. `harness` is what a test takes that does nothing.
pub(super) fn time(
    built: &Built,
    test: &str,
    bound: Option<u32>,
    cap: u64,
    harness: f64,
) -> Result<Run, Problem> {
    let mut once = run(built, test, bound, cap)?;
    if !once.is_fine() || once.cpu > LONG {
        return Ok(once);
    }
    if once.cpu > SHORT {
        for _ in 1..FEW {
            once.cpu = once.cpu.min(run(built, test, bound, cap)?.cpu);
        }
        return Ok(once);
    }
    let cpu = beyond_start(built, test, bound, repetitions(once.cpu))? - harness;
    Ok(Run { cpu: cpu.max(LEAST), ..once })
}

/// CPU seconds of a test that does nothing, without what the program takes to run no test.
pub(super) fn time_empty(built: &Built) -> Result<f64, Problem> {
    beyond_start(built, "empty", None, 2 * repetitions(0.0))
}

/// CPU seconds of a test, without what the program takes to run no test: the two are run in turn, so many times, and
/// the quickest tenth of each counts.
fn beyond_start(built: &Built, test: &str, bound: Option<u32>, times: usize) -> Result<f64, Problem> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..times {
        with.push(once(built, test, bound)?);
        without.push(once(built, NO_TEST, bound)?);
    }
    Ok(quickest(with) - quickest(without))
}

/// The mean of the quickest tenth.
fn quickest(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.truncate(times.len().div_ceil(10));
    times.iter().sum::<f64>() / times.len() as f64
}

/// CPU seconds of a test that is known to be short.
fn once(built: &Built, test: &str, bound: Option<u32>) -> Result<f64, Problem> {
    let mut command = Command::new(&built.program);
    command.args(["--exact", test]);
    Ok(measured(prepare(&mut command, built, bound))?.1)
}

/// Runs a program; how it has ended, and its CPU seconds.
fn measured(command: &mut Command) -> Result<(ExitStatus, f64), Problem> {
    let before = cpu_of_children()?;
    let ended = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let ended = ended.map_err(|error| format!("`{}`: {error}", show(command)))?;
    Ok((ended, cpu_of_children()? - before))
}

/// CPU seconds of all processes that were started here and have ended.
fn cpu_of_children() -> Result<f64, Problem> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| error.to_string())?;
    let seconds = |time: TimeVal| time.num_microseconds() as f64 * 1e-6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// Sets where a test runs, and its bound.
fn prepare<'a>(command: &'a mut Command, built: &Built, bound: Option<u32>) -> &'a mut Command {
    command.current_dir(&built.source).env("RUST_BACKTRACE", "0").env_remove("LOOM_MAX_PREEMPTIONS");
    command.envs(built.variables.iter().copied());
    if let Some(bound) = bound {
        command.env("LOOM_MAX_PREEMPTIONS", bound.to_string());
    }
    command
}

/// Runs a test with a limit on its CPU seconds.
fn run(built: &Built, test: &str, bound: Option<u32>, cap: u64) -> Result<Run, Problem> {
    let mut command = Command::new("bash");
    command.args(["-c", r#"ulimit -St "$1" -Ht $(($1 + 2)); exec "$2" --exact "$3""#, "test"]);
    command.arg(cap.to_string()).arg(&built.program).arg(test);
    let (ended, cpu) = measured(prepare(&mut command, built, bound))?;
    Ok(match (ended.success(), ended.signal()) {
        (true, _) => Run { cpu: cpu.max(0.001), result: TestResult::Passed },
        (_, Some(signal)) if CAPPED.contains(&signal) => Run { cpu: cap as f64, result: TestResult::Capped },
        _ => Run { cpu: cpu.max(0.001), result: TestResult::Failed },
    })
}
