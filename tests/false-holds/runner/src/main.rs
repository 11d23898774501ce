//! Explores one of the programs, and prints the verdict in a line: `false-holds NAME`; and with a second word what is wrong and the
//! token.

#![allow(clippy::print_stdout, reason = "the line is what this is for")]

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

fn main() {
    let name = std::env::args().nth(1).expect("the name of a program");
    let line = match explore(&name, &unpick::Check::new()) {
        Ok(verdict) => match verdict.violation() {
            Some(finding) => {
                if std::env::args().nth(2).is_some() {
                    println!("{}\n{}\n{}", finding.message.join("\n"), finding.token, verdict);
                }
                format!("violated: {} ({} executions)", finding.title, verdict.stats().executions)
            }
            None => verdict.to_string(),
        },
        Err(error) => format!("error: {error}"),
    };
    println!("{}", line.lines().next().unwrap_or_default());
}
