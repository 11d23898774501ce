//! The table at the end of `unpick test`: what each check came to.
//!
//! Checks run in processes that cargo starts, or whoever cargo starts. A variable of the environment names a file, to which each adds
//! what it came to; when all is over the file is read, and kept until the next run.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use unpick_report::ledger::{self, Entry};

use crate::cargo;
use crate::error::Error;
use crate::run::say;

/// The file of the last run, in the folder of reports.
const LAST: &str = "checks.jsonl";

/// What the file of a run that goes on begins with.
const RUN: &str = ".run-";

/// The file of a run that did not come to its end is removed when it is as old as this.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// A run whose checks are collected.
pub(crate) struct Run {
    folder: PathBuf,
    file: PathBuf,
}

impl Run {
    /// A run of `cargo test` with these arguments; `None` if cargo does not say where it builds: it will say why itself.
    pub(crate) fn begin(arguments: &[OsString]) -> Result<Option<Run>, Error> {
        let Some(target) = target(arguments) else { return Ok(None) };
        let folder = target.join("unpick");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let file = folder.join(format!("{RUN}{}-{}", std::process::id(), now.as_nanos()));
        let made = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, ""));
        made.map_err(|problem| Error::NotKept { path: file.clone(), problem })?;
        remove_stale(&folder);
        Ok(Some(Run { folder, file }))
    }

    /// The variable that tells checks where to add what they come to.
    pub(crate) fn variable(&self) -> (&'static str, &OsStr) {
        (ledger::VARIABLE, self.file.as_os_str())
    }

    /// Shows the table. `tests`: some may have run.
    pub(crate) fn end(self, tests: bool) -> Result<(), Error> {
        let last = self.folder.join(LAST);
        let text = fs::read_to_string(&self.file)
            .map_err(|problem| Error::Unreadable { path: self.file.clone(), problem })?;
        fs::rename(&self.file, &last).map_err(|problem| Error::NotKept { path: last.clone(), problem })?;
        let entries = read(&last, &text)?;
        if !entries.is_empty() {
            say(&format!("\n{}", ledger::table(&entries)))?;
        } else if tests {
            say(NONE)?;
        }
        Ok(())
    }
}

const NONE: &str = "
no check was run: checks are tests that call `unpick::check` or have the attribute `#[unpick::test]`, in a crate whose
[dev-dependencies] have unpick with the feature `check`
";

/// The table of a file of checks.
pub(crate) fn table(path: &Path, text: &str) -> Result<String, Error> {
    read(path, text).map(|entries| ledger::table(&entries))
}

fn read(path: &Path, text: &str) -> Result<Vec<Entry>, Error> {
    ledger::read(text).map_err(|problem| Error::NoChecks { path: path.to_path_buf(), problem })
}

/// The folder that `cargo test` with these arguments builds into.
fn target(arguments: &[OsString]) -> Option<PathBuf> {
    let own = arguments.iter().take_while(|word| *word != "--").collect::<Vec<_>>();
    let value = |flag: &str| {
        own.iter().enumerate().find_map(|(index, word)| {
            let rest = word.to_str()?.strip_prefix(flag)?;
            match rest.strip_prefix('=') {
                Some(value) => Some(OsString::from(value)),
                None if rest.is_empty() => own.get(index + 1).map(|word| (*word).clone()),
                None => None,
            }
        })
    };
    if let Some(folder) = value("--target-dir") {
        return std::path::absolute(folder).ok();
    }
    let mut command = Command::new(cargo::program());
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    if let Some(manifest) = value("--manifest-path") {
        command.arg("--manifest-path").arg(manifest);
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).ok()?;
    metadata["target_directory"].as_str().map(PathBuf::from)
}

/// Removes what runs have left that were killed.
fn remove_stale(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(RUN)) {
        let age = entry.metadata().and_then(|data| data.modified()).map(|time| time.elapsed());
        if matches!(age, Ok(Ok(age)) if age > STALE) {
            // Another run may have been faster.
            let _ = fs::remove_file(entry.path());
        }
    }
}
