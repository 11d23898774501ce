//! What checks leave behind: lines in the file of a run, and reports by the names of tests.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use unpick::report::ledger::{self, Ending, Entry};
use unpick::{Check, choose};

use crate::support::*;

/// A folder of a test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn one_holds() {
    if is_child() {
        Check::new().model("sc").check(|| assert!(choose(3) < 3));
    }
}

#[test]
fn one_is_violated() {
    if is_child() {
        Check::new().check(|| assert_eq!(choose(2), 0));
    }
}

#[test]
fn one_proves_nothing() {
    if is_child() {
        Check::new().max_executions(2).check(|| assert!(choose(9) < 9));
    }
}

#[test]
fn one_cannot_be_carried_out() {
    if is_child() {
        Check::new().model("arm").check(|| {});
    }
}

#[test]
fn one_ends_its_process() {
    if is_child() {
        Check::new().check(|| unsafe { libc_exit(9) });
    }
}

unsafe extern "C" {
    #[link_name = "_exit"]
    fn libc_exit(code: i32) -> !;
}

/// Two checks that stand at one place, and one that stands elsewhere.
#[test]
fn three_in_one_test() {
    if is_child() {
        for bound in [2, 3] {
            Check::new().check(move || assert!(choose(bound) < 3));
        }
        unpick::check(|| {});
    }
}

const TESTS: [(&str, &str); 6] = [
    ("checks::one_holds", "holds"),
    ("checks::one_is_violated", "violated"),
    ("checks::one_proves_nothing", "inconclusive"),
    ("checks::one_cannot_be_carried_out", "error"),
    ("checks::one_ends_its_process", "unfinished"),
    ("checks::three_in_one_test", "holds"),
];

/// Runs tests with these arguments, and gives the checks that they have noted.
fn noted(file: &std::path::Path, runs: &[Vec<&str>]) -> Vec<Entry> {
    for arguments in runs {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(arguments).env("CHECKED_IT_CHILD", "1").env(ledger::VARIABLE, file);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    }
    ledger::read(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// What is said of the tests, whoever runs them.
fn as_expected(entries: &[Entry], tests: &[(&str, &str)]) {
    for (test, verdict) in tests {
        let of_test: Vec<_> = entries.iter().filter(|entry| entry.test.as_deref() == Some(*test)).collect();
        let count = if test.ends_with("three_in_one_test") { 3 } else { 1 };
        assert_eq!(of_test.len(), count, "{test}: {entries:?}");
        for entry in of_test {
            assert!(entry.line().contains(&format!("\"verdict\":\"{verdict}\"")), "{entry:?}");
            assert_eq!(entry.program, "unpick.it");
            assert!(entry.place.contains("checks.rs:"), "{entry:?}");
        }
    }
    assert_eq!(entries.len(), tests.len() + 2, "{entries:?}");
    let of = |ending| entries.iter().find(|entry| entry.ending == ending);
    let holds = entries.iter().find(|entry| entry.model == "sc").unwrap();
    assert_eq!((holds.executions, holds.ending), (3, Ending::Holds));
    assert!(!holds.assumptions.is_empty());
    assert_eq!(of(Ending::Violated).unwrap().why, "panic");
    assert!(of(Ending::Inconclusive).unwrap().why.contains("limit on executions"));
    assert!(of(Ending::Error).unwrap().why.contains("there is no memory model `arm`"));
}

#[test]
fn checks_of_one_process_are_noted() {
    let file = folder("checks-one").join("list");
    let tests: Vec<_> = TESTS.into_iter().filter(|(_, verdict)| *verdict != "unfinished").collect();
    let arguments = tests.iter().map(|(test, _)| *test).chain(["--exact", "--test-threads=3"]).collect();
    as_expected(&noted(&file, &[arguments]), &tests);
}

/// As harnesses do that run each test in a process, and some of them on its main thread.
#[test]
fn checks_of_many_processes_are_noted() {
    for (name, thread) in [("checks-many", "--test-threads=2"), ("checks-main", "--test-threads=1")] {
        let file = folder(name).join("list");
        let runs: Vec<Vec<&str>> =
            TESTS.iter().map(|(test, _)| vec![*test, "--exact", "--nocapture", thread]).collect();
        let entries = noted(&file, &runs);
        as_expected(&entries, &TESTS);
        let table = ledger::table(&entries);
        let row = |start: &str| table.lines().find(|line| line.starts_with(start)).unwrap_or_default();
        assert!(row("checks::one_is_violated ").contains("panic"), "{table}");
        assert!(row("checks::one_ends_its_process ").contains("unfinished"), "{table}");
        assert!(row("checks::three_in_one_test (").contains("× 2"), "{table}");
        assert!(
            table.contains("8 checks: 4 hold, 1 inconclusive, 1 unfinished, 1 error, 1 violated"),
            "{table}"
        );
    }
}

#[test]
fn several_reports() {
    if is_child() {
        for bound in 2..5 {
            let verdict = Check::new().run(move || assert_eq!(choose(bound), bound - 2)).unwrap();
            assert!(verdict.violation().is_some());
        }
    }
}

/// A run overwrites the reports of the run before.
#[test]
fn reports_have_the_names_of_tests() {
    let folder = folder("checks-reports");
    for _ in 0..2 {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["checks::several_reports", "checks::one_is_violated", "--exact"]);
        command.env("CHECKED_IT_CHILD", "1").env("CARGO_TARGET_DIR", &folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        let files = std::fs::read_dir(folder.join("unpick")).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        let expected = ["one_is_violated", "several_reports-2", "several_reports-3", "several_reports"];
        assert_eq!(names, expected.map(|name| format!("unpick.it.checks.{name}.json")));
    }
}
