//! Times the engine on one program: `unpick-bench NAME SIZE [MODEL]`.
//!
//! Prints one line: executions, CPU seconds, nanoseconds per execution and per event.

mod programs;

use std::io::Write;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().map_or("fib", String::as_str);
    let size = args.get(1).and_then(|size| size.parse().ok()).unwrap_or(5);
    let model = args.get(2).map_or("cpp20", String::as_str);
    let Some(program) = programs::program(name, size) else {
        fail(&format!("there is no program `{name}`"));
    };
    let verdict = match unpick::Check::new().model(model).run(program) {
        Ok(verdict) => verdict,
        Err(error) => fail(&error.to_string()),
    };
    let stats = verdict.stats();
    let all = (stats.executions + stats.blocked) as f64;
    let cpu = stats.cpu.as_secs_f64();
    let line = format!(
        "{name} {size} {model} executions={} blocked={} events={} cpu={cpu:.4} ns/execution={:.0} ns/event={:.1}\n",
        stats.executions,
        stats.blocked,
        stats.events,
        cpu * 1e9 / all,
        cpu * 1e9 / stats.events as f64,
    );
    let _ = std::io::stdout().write_all(line.as_bytes());
}

fn fail(problem: &str) -> ! {
    let _ = writeln!(std::io::stderr(), "{problem}");
    std::process::exit(2)
}
