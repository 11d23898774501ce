//! Tests as processes, with their CPU time.

use std::fmt;
use std::path::Path;
use std::process::Command;

use super::fetch::Built;
use crate::Problem;
use crate::shell::output;

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
}

/// The names of all tests of a program.
pub(super) fn tests_of(program: &Path) -> Result<Vec<String>, Problem> {
    let list = output(Command::new(program).args(["--list", "--format", "terse"]))?;
    Ok(list.lines().filter_map(|line| line.strip_suffix(": test")).map(String::from).collect())
}

/// The status of a shell whose child was ended by the limit on CPU, softly or not.
const CAPPED: [i32; 2] = [128 + 24, 128 + 9];

/// A test that takes less CPU seconds than this is short.
const SHORT: f64 = 0.1;

/// How often a short test is run for one measurement, depending on the CPU seconds that it takes: a shell tells times in
/// milliseconds. And how many times it is measured like that.
fn repetitions(cpu: f64) -> u32 {
    (0.15 / cpu).clamp(5.0, 60.0) as u32
}
const MEASUREMENTS: u32 = 5;

/// The least that can be told from nothing, in CPU seconds.
const LEAST: f64 = 20e-6;

/// What no test is called.
const NO_TEST: &str = "no test has this name";

/// Runs a test with a limit on its CPU seconds. A short one is run many times, as is the same program without a
/// test; the least of several measurements counts. `harness` is what a test takes that does nothing.
pub(super) fn time(
    built: &Built,
    test: &str,
    bound: Option<u32>,
    cap: u64,
    harness: f64,
) -> Result<Run, Problem> {
    let once = run(built, test, bound, cap, 1)?;
    if !once.is_fine() || once.cpu > SHORT {
        return Ok(once);
    }
    let cpu = beyond_start(built, test, bound, cap, repetitions(once.cpu))? - harness;
    Ok(Run { cpu: cpu.max(LEAST), ..once })
}

/// CPU seconds of a test that does nothing, without what the program takes to run no test.
pub(super) fn time_empty(built: &Built) -> Result<f64, Problem> {
    beyond_start(built, "empty", None, 1, repetitions(0.0))
}

/// CPU seconds of a test, without what the program takes to run no test.
fn beyond_start(built: &Built, test: &str, bound: Option<u32>, cap: u64, times: u32) -> Result<f64, Problem> {
    let (mut least, mut start) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..MEASUREMENTS {
        least = least.min(run(built, test, bound, cap, times)?.cpu);
        start = start.min(run(built, NO_TEST, bound, cap, times)?.cpu);
    }
    Ok((least - start) / f64::from(times))
}

/// Runs a test so many times, one after another.
fn run(built: &Built, test: &str, bound: Option<u32>, cap: u64, times: u32) -> Result<Run, Problem> {
    // `times` tells the CPU time of children last.
    let script = r#"for ((i = 0; i < $4; i++)); do
        (ulimit -St "$1" -Ht $(($1 + 2)); exec "$2" --exact "$3" >/dev/null 2>&1); code=$?
    done; times; echo $code"#;
    let mut command = Command::new("bash");
    command.args(["-c", script, "time"]).arg(cap.to_string()).arg(&built.program).arg(test);
    command.arg(times.to_string());
    command.current_dir(&built.source).env("RUST_BACKTRACE", "0").env_remove("LOOM_MAX_PREEMPTIONS");
    if let Some(bound) = bound {
        command.env("LOOM_MAX_PREEMPTIONS", bound.to_string());
    }
    let said = output(&mut command)?;
    let lines: Vec<&str> = said.lines().collect();
    let [_, children, code] = lines[..] else { return Err(format!("no times in `{said}`")) };
    let times = children.split_whitespace().map(parse).collect::<Option<Vec<f64>>>();
    let (Some(times), Ok(code)) = (times, code.trim().parse()) else {
        return Err(format!("no times in `{said}`"));
    };
    let result = match code {
        0 => TestResult::Passed,
        code if CAPPED.contains(&code) => TestResult::Capped,
        _ => TestResult::Failed,
    };
    let cpu = if result == TestResult::Capped { cap as f64 } else { times.iter().sum::<f64>().max(0.001) };
    Ok(Run { cpu, result })
}

/// Seconds, of a time such as `1m2.345s`.
fn parse(time: &str) -> Option<f64> {
    let (minutes, seconds) = time.strip_suffix('s')?.split_once('m')?;
    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.replace(',', ".").parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_shells_are_read() {
        assert_eq!(parse("1m2.500s"), Some(62.5));
        assert_eq!(parse("0m0,250s"), Some(0.25));
        assert_eq!(parse("later"), None);
    }
}
