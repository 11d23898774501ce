//! Runs one test of the comparison with one of the tools a user would pick instead.
//!
//! ```text
//! unpick-peers <tool> <test> [--limit-seconds S] [--runs N]
//! unpick-peers list
//! ```
//!
//! The first form explores the test and prints one line of JSON: the tool, the test, the executions it
//! took, the CPU seconds of this process (user and kernel) spent exploring, whether the tool came to
//! its own end, and a note. One process runs one test, so that nothing a tool leaves behind (pooled
//! stacks, a grown heap, leaked nodes) reaches the next test. The second form prints a line per test:
//! its name, the threads it needs with main, and the optimal number of executions where it is known.
//!
//! `--limit-seconds` is in CPU seconds. `--runs` is the number of samples of a sampling tool (100,000
//! unless given) and stops an exhaustive one early. A tool that stops at a limit, gives up or raises an
//! alarm has not finished. The status is 0 whenever a line was printed and 2 for a wrong command line.

mod programs;
mod tools;

use programs::TESTS;
use std::process::ExitCode;
use tools::{Limits, TOOLS, Tool};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match parse(&args) {
        Ok(Command::List) => {
            for test in TESTS {
                let optimal = test.optimal.map_or("null".to_owned(), |count| count.to_string());
                println!(r#"{{"test":"{}","threads":{},"optimal":{optimal}}}"#, test.name, test.threads);
            }
            ExitCode::SUCCESS
        }
        Ok(Command::Run(tool, test, limits)) => tools::run(tool, test, limits),
        Err(message) => {
            eprintln!("{message}\nusage: unpick-peers <tool> <test> [--limit-seconds S] [--runs N] | list");
            ExitCode::from(2)
        }
    }
}

enum Command {
    List,
    Run(&'static Tool, &'static programs::Test, Limits),
}

fn parse(args: &[String]) -> Result<Command, String> {
    let mut words = Vec::new();
    let mut limits = Limits::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} wants a value"));
        match arg.as_str() {
            "--limit-seconds" => limits.seconds = Some(number(value()?)?),
            "--runs" => limits.runs = Some(number(value()?)?),
            option if option.starts_with('-') => return Err(format!("no option {option}")),
            word => words.push(word),
        }
    }
    match words[..] {
        ["list"] => Ok(Command::List),
        [tool, test] => {
            let tool = TOOLS.iter().find(|t| t.name == tool).ok_or(format!("no tool {tool}"))?;
            let test = programs::find(test).ok_or(format!("no test {test}"))?;
            Ok(Command::Run(tool, test, limits))
        }
        _ => Err("one tool and one test, please".to_owned()),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}
