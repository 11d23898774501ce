//! Times the engine on one program: `unpick-bench NAME SIZE [MODEL] [executions=N] [strategy=NAME]`.
//!
//! Prints one line of words and `key=value` pairs: executions, events, CPU seconds, nanoseconds per
//! execution and per event, and the peak of resident memory in KiB. Built with the feature
//! `counters`, it also counts the blocks of memory that were taken outside the arenas. `executions=N` stops
//! early, so that two runs of different length tell what one execution costs once everything is warm.

mod counting;
mod programs;

use std::io::Write;

fn main() {
    let mut words = Vec::new();
    // The programs leak their memory.
    let mut check = unpick::Check::new().strategy("optimal").leaks(false);
    for arg in std::env::args().skip(1) {
        match arg.split_once('=') {
            Some(("executions", number)) => match number.parse() {
                Ok(number) => check = check.max_executions(number),
                Err(_) => fail(&format!("`{number}` is not a whole number")),
            },
            Some(("strategy", name)) => check = check.strategy(name),
            _ => words.push(arg),
        }
    }
    let name = words.first().map_or("fib", String::as_str);
    let size = words.get(1).and_then(|size| size.parse().ok()).unwrap_or(5);
    let model = words.get(2).map_or("cpp20", String::as_str);
    let Some(program) = programs::program(name, size) else {
        fail(&format!("there is no program `{name}`"));
    };
    let verdict = match check.model(model).run(program) {
        Ok(verdict) => verdict,
        Err(error) => fail(&error.to_string()),
    };
    if let Some(finding) = verdict.violation() {
        fail(&format!("{name} {size} is violated: {}", finding.title));
    }
    let stats = verdict.stats();
    let all = (stats.executions + stats.blocked) as f64;
    let cpu = stats.cpu.as_secs_f64();
    let mut line = format!(
        "{name} {size} {model} executions={} blocked={} events={} cpu={cpu:.6} ns/execution={:.0} ns/event={:.1}",
        stats.executions,
        stats.blocked,
        stats.events,
        cpu * 1e9 / all,
        cpu * 1e9 / stats.events as f64,
    );
    if let Some(peak) = peak_memory() {
        line += &format!(" peak_kib={peak}");
    }
    if let Some(blocks) = counting::blocks() {
        line += &format!(" blocks={blocks}");
    }
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// The most resident memory that this process has had, in KiB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn fail(problem: &str) -> ! {
    let _ = writeln!(std::io::stderr(), "{problem}");
    std::process::exit(2)
}
