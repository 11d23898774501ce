//! The tests of the comparison, run by unpick: `unpick-side unpick <test> [--limit-seconds S] [--runs N]`.
//!
//! The tool is `unpick` for every execution, and `unpick-random`, `unpick-pct:3`, ... for executions that a
//! strategy draws at random, as many as the other sampling tools draw unless told otherwise.
//!
//! Prints the same line as `unpick-peers` does for the other tools: executions are complete and
//! blocked ones together, and CPU time is that of the whole process while the check was going on, so
//! starting it up is included. A check of few executions is repeated then, in turn with one that
//! stops after its first execution, and `further_seconds` is what each further execution cost: the
//! rate of a tool that samples has no start-up in it either.

mod limits;
mod line;
mod programs;

use std::process::ExitCode;
use std::time::Duration;

/// Executions of a strategy that draws them at random, when the command line names no number.
const SAMPLES: u64 = 100_000;

/// CPU seconds for which a short check is repeated.
const REPEATED_SECONDS: f64 = 0.2;

mod side {
    use unpick::sync::{Arc, Mutex};
    use unpick::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
    use unpick::{hint::spin_loop, thread};
    crate::programs::programs!();
}

fn main() -> ExitCode {
    let (tool, test, limits) = match limits::parse() {
        Ok(Some((tool, test, limits))) if tool.starts_with("unpick") => (tool, test, limits),
        Ok(None) => {
            println!("{}", line::list());
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("usage: unpick-side unpick[-strategy] <test> [--limit-seconds S] [--runs N] | list");
            return ExitCode::from(2);
        }
    };
    let program = side::program(test.name).expect("every test has a body");
    // Nodes are never freed.
    let mut check = unpick::Check::new().strategy("optimal").leaks(false);
    if let Some(seconds) = limits.seconds {
        check = check.time_limit(Duration::from_secs_f64(seconds));
    }
    if let Some(runs) = limits.runs {
        check = check.max_executions(runs);
    }
    let strategy = tool.strip_prefix("unpick-");
    if let Some(strategy) = strategy {
        check = check.strategy(strategy).max_executions(limits.runs.unwrap_or(SAMPLES));
    }
    let (spent, result) = timed(&check, program);
    let text = match result {
        Ok(verdict) => {
            let stats = verdict.stats();
            let all = stats.executions + stats.blocked;
            if strategy.is_some() {
                let finished = verdict.violation().is_none();
                println!("{}", line::line(&tool, test.name, all, spent, finished, &verdict.to_string()));
                return ExitCode::SUCCESS;
            }
            let note = match verdict.holds() {
                true => format!("{} blocked", stats.blocked),
                false => verdict.to_string(),
            };
            let line = line::line("unpick", test.name, all, spent, verdict.holds(), &note);
            match verdict.holds().then(|| further(&check, program, all)).flatten() {
                Some(further) => line.replacen('}', &format!(r#","further_seconds":{further:e}}}"#), 1),
                None => line,
            }
        }
        Err(error) => line::line("unpick", test.name, 0, spent, false, &format!("alarm: {error}")),
    };
    println!("{text}");
    ExitCode::SUCCESS
}

/// CPU seconds that a check takes, and what comes of it.
fn timed(check: &unpick::Check, program: fn()) -> (f64, Result<unpick::Verdict, unpick::Error>) {
    let start = line::cpu_seconds();
    let result = check.run(program);
    (line::cpu_seconds() - start, result)
}

/// CPU seconds of each execution after the first, if there are any. The verdict tells the CPU time of
/// the OS thread that ran the check, without what it costs the kernel to make that thread.
fn further(check: &unpick::Check, program: fn(), executions: u64) -> Option<f64> {
    let first = check.clone().max_executions(1);
    let seconds = |check: &unpick::Check| Some(check.run(program).ok()?.stats().cpu.as_secs_f64());
    let (mut whole, mut start_up, mut rounds) = (0.0, 0.0, 0u32);
    while executions > 1 && whole < REPEATED_SECONDS {
        whole += seconds(check)?;
        start_up += seconds(&first)?;
        rounds += 1;
    }
    (rounds > 0).then(|| (whole - start_up) / (f64::from(rounds) * (executions - 1) as f64))
}
