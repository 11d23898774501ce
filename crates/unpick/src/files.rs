//! What checks leave behind: reports in the target folder, and lines in the file of a run.
//!
//! A report has the name of its test, so that the next run overwrites it. The folder has a limit all the same, since tests are
//! renamed, and not all have names.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use unpick_check::{Error, Verdict, meter};
use unpick_report::ledger::{self, Ending, Entry};

/// Reports of one test in one process: the last one is overwritten by further ones.
const MOST_OF_TEST: usize = 20;

/// Files in the folder of reports; the oldest go first.
const MOST_FILES: usize = 500;

/// Names of files are no longer than this.
const LONGEST_NAME: usize = 180;

/// A name for the files of a report: that of the test, or one that is made of `other` if there is no test.
pub(crate) fn report_name(other: &str) -> String {
    static REPORTS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
    let Some(test) = test() else { return file_name(&format!("{}.{other}", program())) };
    let name = file_name(&format!("{}.{test}", program()));
    let mut reports = REPORTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let count = reports.entry(name.clone()).or_insert(0);
    *count = (*count + 1).min(MOST_OF_TEST);
    if *count == 1 { name } else { format!("{name}-{count}") }
}

/// A text as the name of a file.
fn file_name(text: &str) -> String {
    let plain = text.replace("::", ".");
    let fits = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
    let name: String = plain.chars().map(|letter| if fits(letter) { letter } else { '-' }).collect();
    if name.len() <= LONGEST_NAME {
        return name;
    }
    // FNV-1a of the whole.
    let start = 0xcbf2_9ce4_8422_2325_u64;
    let hash = text.bytes().fold(start, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let end = (0..=LONGEST_NAME - 20).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    format!("{}-{hash:016x}", &name[..end])
}

/// Writes a file below `target/unpick`; `None` if that is not possible.
pub(crate) fn save(name: &str, text: &str) -> Option<PathBuf> {
    let folder = folder()?.join("unpick");
    fs::create_dir_all(&folder).ok()?;
    let path = folder.join(name);
    if !path.exists() {
        make_room(&folder);
    }
    // Whoever reads it meanwhile gets the old one or the new one.
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let draft = folder.join(format!(".{}-{number}", std::process::id()));
    let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, &path));
    if written.is_err() {
        // It may not be there.
        let _ = fs::remove_file(&draft);
    }
    written.is_ok().then_some(path)
}

/// Removes the oldest files, so that there is room for one more.
fn make_room(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let ours = |path: &PathBuf| {
        path.extension().and_then(OsStr::to_str).is_some_and(|kind| matches!(kind, "json" | "schedule"))
    };
    let files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(ours).collect();
    if files.len() < MOST_FILES {
        return;
    }
    let age = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).unwrap_or(UNIX_EPOCH);
    let mut aged: Vec<(SystemTime, PathBuf)> = files.into_iter().map(|path| (age(&path), path)).collect();
    aged.sort();
    // Some more, so that the next ones need not look.
    for (_, path) in aged.iter().take(aged.len() + MOST_FILES / 10 - MOST_FILES) {
        // Another process may have been faster.
        let _ = fs::remove_file(path);
    }
}

/// The folder that cargo builds into.
fn folder() -> Option<PathBuf> {
    if let Some(target) = std::env::var_os("CARGO_TARGET_DIR") {
        return Some(PathBuf::from(target));
    }
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join("target")).find(|target| target.is_dir())
}

/// The name of this program: as cargo has it, with that of its package in front if that is another one.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let name = path.file_stem().and_then(OsStr::to_str).unwrap_or("program");
    // Cargo adds a hash to the names of test programs.
    let hash = |end: &str| end.len() == 16 && end.chars().all(|digit| digit.is_ascii_hexdigit());
    let name = name.rsplit_once('-').filter(|(_, end)| hash(end)).map_or(name, |(name, _)| name);
    let package = std::env::var("CARGO_PKG_NAME").ok();
    match package.filter(|package| package.replace('-', "_") != name.replace('-', "_")) {
        Some(package) => format!("{package}.{name}"),
        None => name.to_string(),
    }
}

/// The name of the test that runs on this thread. A harness that starts a process for each test says it in the arguments, and
/// may run it on the main thread.
fn test() -> Option<String> {
    meter::name().or_else(|| {
        let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
        let mut words = words.collect::<Vec<_>>();
        let exact = words.iter().any(|word| word == "--exact");
        words.retain(|word| !word.starts_with('-'));
        (exact && words.len() == 1).then(|| words.remove(0))
    })
}

/// A check that is noted, if somebody collects what checks come to.
#[derive(Debug)]
pub struct Note(Option<Box<Begun>>);

#[derive(Debug)]
struct Begun {
    file: PathBuf,
    entry: Entry,
    since: Instant,
}

impl Note {
    /// A check begins that stands at a place.
    pub fn begin(place: &Location<'_>) -> Note {
        let file = std::env::var_os(ledger::VARIABLE).filter(|file| !file.is_empty());
        Note(file.map(|file| {
            static CHECKS: AtomicU64 = AtomicU64::new(0);
            let number = CHECKS.fetch_add(1, Ordering::Relaxed);
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let id = format!("{}-{number}-{}", std::process::id(), now.as_nanos());
            let place = format!("{}:{}", place.file(), place.line());
            let entry = Entry::begun(id, program(), test(), place);
            let file = PathBuf::from(file);
            add(&file, &entry);
            Box::new(Begun { file, entry, since: Instant::now() })
        }))
    }

    /// The check has ended.
    pub fn end(mut self, result: &Result<Verdict, Error>) {
        let Some(begun) = self.0.take() else { return };
        let Begun { file, mut entry, since } = *begun;
        entry.time = since.elapsed();
        (entry.ending, entry.why) = match result {
            Ok(Verdict::Holds(_)) => (Ending::Holds, String::new()),
            Ok(Verdict::Violated(violated)) => (Ending::Violated, violated.finding.title.clone()),
            Ok(Verdict::Inconclusive(reason, _)) => (Ending::Inconclusive, reason.to_string()),
            Err(error) => (Ending::Error, error.to_string()),
        };
        if let Ok(verdict) = result {
            let summary = verdict.summary();
            entry.model.clone_from(&summary.model);
            entry.strategy.clone_from(&summary.strategy);
            entry.executions = summary.statistics.executions;
            entry.blocked = summary.statistics.blocked;
            entry.assumptions.clone_from(&summary.assumptions);
        }
        add(&file, &entry);
    }
}

/// A panic has left the check.
impl Drop for Note {
    fn drop(&mut self) {
        if let Some(begun) = self.0.take() {
            let why = String::from("a panic has left the check");
            add(
                &begun.file,
                &Entry { ending: Ending::Error, why, time: begun.since.elapsed(), ..begun.entry },
            );
        }
    }
}

/// Carries out a check, and notes what came of it.
pub(crate) fn noted(
    place: &Location<'_>,
    check: impl FnOnce() -> Result<Verdict, Error>,
) -> Result<Verdict, Error> {
    let note = Note::begin(place);
    let result = check();
    note.end(&result);
    result
}

/// Adds a line to the file. Other threads and processes do so too, so it is one write at the end of the file.
fn add(file: &Path, entry: &Entry) {
    let opened = OpenOptions::new().append(true).create(true).open(file);
    // A list that cannot be written is no reason for a check to fail: whoever collects misses the check.
    let _ = opened.and_then(|mut file| file.write_all(entry.line().as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain_and_short() {
        assert_eq!(file_name("ring.it.tests::push a/b"), "ring.it.tests.push-a-b");
        let long = "ä::".repeat(100);
        let name = file_name(&long);
        assert!(name.len() <= LONGEST_NAME && name != file_name(&format!("{long}x")), "{name}");
    }

    #[test]
    fn the_oldest_reports_make_room() {
        let folder = std::env::temp_dir().join(format!("unpick-room-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("it can be made");
        for number in 0..MOST_FILES {
            fs::write(folder.join(format!("{number}.json")), "").expect("it can be written");
        }
        fs::write(folder.join("other.txt"), "").expect("it can be written");
        make_room(&folder);
        let left = fs::read_dir(&folder).expect("it is there").count();
        assert_eq!(left, MOST_FILES - MOST_FILES / 10 + 1);
        assert!(folder.join("other.txt").exists());
        fs::remove_dir_all(&folder).expect("it can be removed");
    }
}
