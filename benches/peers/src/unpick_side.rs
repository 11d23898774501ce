//! The tests of the comparison, run by unpick: `unpick-side unpick <test> [--limit-seconds S] [--runs N]`.
//!
//! Prints the same line as `unpick-peers` does for the other tools: executions are complete and
//! blocked ones together, and CPU time is that of the whole process while the check was going on, so
//! starting it up is included. The time without that, as the verdict tells it, is in the note.

mod limits;
mod line;
mod programs;

use std::process::ExitCode;
use std::time::Duration;

mod side {
    use std::sync::Arc;
    use unpick::sync::Mutex;
    use unpick::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
    use unpick::{hint::spin_loop, thread};
    crate::programs::programs!();
}

fn main() -> ExitCode {
    let (test, limits) = match limits::parse() {
        Ok(Some((tool, test, limits))) if tool == "unpick" => (test, limits),
        Ok(None) => {
            println!("{}", line::list());
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("usage: unpick-side unpick <test> [--limit-seconds S] [--runs N] | list");
            return ExitCode::from(2);
        }
    };
    let program = side::program(test.name).expect("every test has a body");
    let mut check = unpick::Check::new();
    if let Some(seconds) = limits.seconds {
        check = check.time_limit(Duration::from_secs_f64(seconds));
    }
    if let Some(runs) = limits.runs {
        check = check.max_executions(runs);
    }
    let start = line::cpu_seconds();
    let result = check.run(program);
    let spent = line::cpu_seconds() - start;
    let text = match result {
        Ok(verdict) => {
            let stats = verdict.stats();
            let all = stats.executions + stats.blocked;
            let within = stats.cpu.as_secs_f64();
            let note = match verdict.holds() {
                true => format!("{within:.6} s without start-up, {} blocked", stats.blocked),
                false => verdict.to_string(),
            };
            line::line("unpick", test.name, all, spent, verdict.holds(), &note)
        }
        Err(error) => line::line("unpick", test.name, 0, spent, false, &format!("alarm: {error}")),
    };
    println!("{text}");
    ExitCode::SUCCESS
}
