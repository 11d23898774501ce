//! The command line: what to run, and when to stop.

use crate::programs::{self, Test};

/// Limits of one exploration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// CPU seconds after which to stop.
    pub(crate) seconds: Option<f64>,
    /// Executions after which to stop.
    pub(crate) runs: Option<u64>,
}

/// The name of a tool, a test and the limits, or nothing when the tests are to be listed.
pub(crate) fn parse() -> Result<Option<(String, &'static Test, Limits)>, String> {
    let mut words = Vec::new();
    let mut limits = Limits::default();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} wants a value"));
        match arg.as_str() {
            "--limit-seconds" => limits.seconds = Some(number(&value()?)?),
            "--runs" => limits.runs = Some(number(&value()?)?),
            option if option.starts_with('-') => return Err(format!("no option {option}")),
            _ => words.push(arg),
        }
    }
    match &words[..] {
        [word] if word == "list" => Ok(None),
        [tool, test] => {
            let test = programs::find(test).ok_or(format!("no test {test}"))?;
            Ok(Some((tool.clone(), test, limits)))
        }
        _ => Err("one tool and one test, please".to_owned()),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}
