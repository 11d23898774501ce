//! Shows a verdict, and turns it into the exit code that all of unpick uses.

use std::process::ExitCode;

use unpick::report::{TextOptions, text};
use unpick::{Error, Verdict};

/// Prints the report. The exit code is 0 for holds, 1 for violated, 2 for an error, and 3 for
/// inconclusive.
#[allow(clippy::print_stdout, reason = "an example shows its report to whoever runs it")]
pub(crate) fn show(result: &Result<Verdict, Error>) -> ExitCode {
    match result {
        Ok(verdict) => {
            if let Some(finding) = verdict.violation() {
                println!("{}", text(finding, &TextOptions::default()));
            }
            println!("{verdict}");
        }
        Err(error) => println!("error: {error}"),
    }
    ExitCode::from(match result {
        Ok(Verdict::Holds(..)) => 0,
        Ok(Verdict::Violated(..)) => 1,
        Err(_) => 2,
        Ok(_) => 3,
    })
}
