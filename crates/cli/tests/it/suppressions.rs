//! Violations that are known, with the runtime that is built in.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

fn unpick() -> Command {
    let mut command = crate::native("known-cache");
    command.env_remove("UNPICK_SUPPRESSIONS");
    command
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("known")
}

fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        std::fs::create_dir_all(folder()).expect("a folder can be made");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/programs/known.c");
        let program = folder().join("program");
        let status = unpick().arg("cc").arg(source).arg("-o").arg(&program).status();
        assert!(status.is_ok_and(|status| status.success()));
        program
    })
}

/// Writes a file with known violations.
fn file(name: &str, lines: &str) -> PathBuf {
    std::fs::create_dir_all(folder()).expect("a folder can be made");
    let path = folder().join(name);
    std::fs::write(&path, lines).expect("files can be written");
    path
}

fn said(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command.output().expect("unpick can be started");
    (status.code(), [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat())
}

/// Explores a part of the program with these lines in the file.
fn explored(part: &str, lines: &str) -> (Option<i32>, String) {
    let file = file(&format!("{part}-{}", lines.len()), lines);
    let mut command = unpick();
    command.args(["run", "--strategy", "optimal", "--suppressions"]).arg(file).arg(program()).arg(part);
    said(&mut command)
}

#[test]
fn a_known_race_is_passed_over_and_the_execution_goes_on() {
    let (code, text) = explored("counter", "race:nobody\n");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("violated: data race"), "{text}");
    for pattern in ["race:count_hits", "race:^hits$", "race:known.c", "race_top:^add$", "race:a*dd"] {
        let (code, text) = explored("counter", &format!("# known\n{pattern}\nrace:nobody\nsignal:x\n"));
        assert_eq!(code, Some(0), "{pattern}: {text}");
        assert!(text.contains("holds (cpp20 and optimal: 2 executions)"), "{pattern}: {text}");
        assert!(text.contains("what races read that were passed over was not explored"), "{pattern}: {text}");
        assert!(text.contains(&format!("passed over: 2 violations by `{pattern}`")), "{pattern}: {text}");
        assert!(text.contains("of no use: `race:nobody`") && text.contains(":3\n"), "{pattern}: {text}");
        assert!(!text.contains("signal"), "{pattern}: {text}");
    }
}

#[test]
fn what_comes_after_a_known_race_is_found_and_comes_back() {
    let (code, text) = explored("failing", "race:count_hits\n");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("violated: failed assertion"), "{text}");
    let words = text.split("replay: unpick ").nth(1).and_then(|rest| rest.lines().next());
    let words = words.unwrap_or_else(|| panic!("the report says how to replay: {text}"));
    let (code, again) = said(unpick().args(words.split_whitespace()));
    assert_eq!(code, Some(1), "{again}");
    assert!(again.contains("failed assertion"), "{again}");
}

#[test]
fn a_race_at_the_same_place_in_other_memory_is_no_known_one() {
    let (code, text) = explored("both", "race:^hits$\n");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("`misses`") && !text.contains("`hits`"), "{text}");
    let (code, text) = explored("both", "race:count_hits\n");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("`misses`"), "{text}");
    let (code, text) = explored("both", "race:^add$\n");
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_known_race_that_decides_what_happens_is_told() {
    let (code, text) = explored("decides", "race:^hits$\n");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("what a race has read that was passed over decides what T2 does"), "{text}");
}

#[test]
fn known_deadlocks_and_leaks_are_passed_over() {
    let (code, text) = explored("deadlock", "race:turn_round\n");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("violated: deadlock"), "{text}");
    let (code, text) = explored("deadlock", "deadlock:turn_round\n");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("passed over: 1 violation"), "{text}");
    let (code, text) = explored("leaks", "leak:forget\n");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("a block of 16 bytes"), "{text}");
    let (code, text) = explored("leaks", "leak:forget\nleak:^lose$\n");
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_file_that_is_not_understood_is_refused() {
    let (code, text) = explored("counter", "race:x\nrice:y\n");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains(":2: `rice` is no kind of violation"), "{text}");
    let mut command = unpick();
    command.args(["run", "--suppressions", "/no/such/file"]).arg(program());
    let (code, text) = said(&mut command);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("/no/such/file"), "{text}");
}
