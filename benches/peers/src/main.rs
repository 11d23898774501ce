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
//!
//! unpick itself is in a binary of its own, `unpick-side`, since it brings an allocator along that the
//! others should not be slowed down by.

mod limits;
mod line;
mod programs;
mod tools;

use std::process::ExitCode;
use tools::TOOLS;

fn main() -> ExitCode {
    let problem = match limits::parse() {
        Ok(None) => {
            println!("{}", line::list());
            return ExitCode::SUCCESS;
        }
        Ok(Some((tool, test, limits))) => match TOOLS.iter().find(|known| known.name == tool) {
            Some(tool) => tools::run(tool, test, limits),
            None => format!("no tool {tool}"),
        },
        Err(message) => message,
    };
    eprintln!("{problem}\nusage: unpick-peers <tool> <test> [--limit-seconds S] [--runs N] | list");
    ExitCode::from(2)
}
