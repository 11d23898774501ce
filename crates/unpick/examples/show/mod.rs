//! Shows a verdict, and turns it into the exit code that all of unpick uses.

use std::io::Write;
use std::process::ExitCode;

use unpick::report::{TextOptions, numbered};
use unpick::{Error, Verdict};

/// Prints the report. The exit code is 0 for holds, 1 for violated, 2 for an error, and 3 for
/// inconclusive.
pub(crate) fn show(result: &Result<Verdict, Error>) -> ExitCode {
    let shown = match result {
        Ok(verdict) => {
            let count = verdict.violations().count();
            let findings = verdict.violations().zip(1..);
            let report = |(finding, number)| numbered(finding, number, count, &TextOptions::default()) + "\n";
            format!("{}{verdict}\n", findings.map(report).collect::<String>())
        }
        Err(error) => format!("error: {error}\n"),
    };
    // The exit code tells the verdict even where the report cannot be written.
    let _ = std::io::stdout().write_all(shown.as_bytes());
    ExitCode::from(match result {
        Ok(Verdict::Holds(..)) => 0,
        Ok(Verdict::Violated(..)) => 1,
        Err(_) => 2,
        Ok(_) => 3,
    })
}
