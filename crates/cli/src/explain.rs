//! A report that was kept as JSON, shown again; or the table of the checks of a run.
//!
//! What is shown is what the check has printed, for the width of this terminal. The formats are those of `unpick_report::json` and
//! `unpick_report::ledger`.

use serde_json::Value;
use unpick_report::TextOptions;

use crate::args::Explain;
use crate::checks;
use crate::error::Error;
use crate::native::{REPLAY, shown};

/// The report in a file, as text.
pub(crate) fn explain(asked: &Explain) -> Result<String, Error> {
    let path = &asked.file;
    let text =
        std::fs::read_to_string(path).map_err(|problem| Error::Unreadable { path: path.clone(), problem })?;
    if unpick_report::ledger::is_one(&text) {
        return checks::table(path, &text);
    }
    tell(&text).map_err(|problem| Error::NoReport { path: path.clone(), problem })
}

fn tell(text: &str) -> Result<String, String> {
    let report: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let replay = report[REPLAY].as_str().map(str::to_string);
    let finding = unpick_report::read(report)?;
    Ok(match replay {
        Some(replay) => shown(&finding, &replay),
        None => unpick_report::text(&finding, &TextOptions::of_terminal()),
    })
}
