//! The table at the end of `unpick test`. Another program does what cargo does: it says where it builds, and runs tests, which add
//! their lines. What lines checks add is tested in the library.

use std::path::{Path, PathBuf};
use std::process::Command;

use unpick_report::ledger::{Ending, Entry};

/// A folder, and a program in it that says it is the target folder, adds some lines, and ends with a code.
fn cargo(name: &str, lines: &str, code: i32) -> (PathBuf, PathBuf) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let (program, list) = (folder.join("cargo"), folder.join("lines"));
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in\n\
         metadata*) echo '{{\"target_directory\": \"{0}\"}}' ;;\n\
         *--no-run*) ;;\n\
         test*) echo 'tests run'; cat '{1}' >> \"$UNPICK_CHECKS\"; exit {code} ;;\n\
         esac\n",
        folder.display(),
        list.display()
    );
    crate::script(&program, &text);
    std::fs::write(&list, lines).expect("a file can be written");
    (folder, program)
}

fn run(cargo: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
    let ended = command.args(arguments).env("CARGO", cargo).output().expect("unpick can be started");
    (ended.status.code(), String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned())
}

fn entry(id: &str, test: &str, ending: Ending, why: &str) -> Entry {
    let begun = Entry::begun(id.into(), "ring".into(), Some(test.into()), String::from("src/lib.rs:7"));
    Entry { ending, why: why.into(), executions: 3, assumptions: vec!["no load buffering".into()], ..begun }
}

#[test]
fn tests_end_with_a_table_of_checks() {
    let lines = entry("1", "tests::push", Ending::Holds, "").line()
        + &entry("2", "tests::pop", Ending::Unfinished, "").line()
        + &entry("2", "tests::pop", Ending::Violated, "data race").line();
    let (folder, cargo) = cargo("table", &lines, 101);
    let (code, out) = run(&cargo, &["test"]);
    assert_eq!(code, Some(1), "{out}");
    let (_, table) = out.split_once("tests run\n").expect("the tests come first");
    let expected = "
check        verdict   executions    time  assumed
tests::pop   violated           3  0.0 ms  [1]      data race
tests::push  holds              3  0.0 ms  [1]

assumed:
  [1] no load buffering

2 checks: 1 holds, 1 violated
";
    assert_eq!(table, expected);
    // The list is kept until the next run, and is all that is left.
    let left: Vec<_> = std::fs::read_dir(folder.join("unpick")).expect("it is there").collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let last = folder.join("unpick/checks.jsonl").display().to_string();
    let (code, again) = run(&cargo, &["explain", &last]);
    assert_eq!((code, format!("\n{again}")), (Some(0), expected.to_string()));
}

#[test]
fn tests_without_checks_are_told() {
    let (_, cargo) = cargo("no-table", "", 0);
    let (code, out) = run(&cargo, &["test"]);
    assert!(code == Some(0) && out.contains("no check was run") && out.contains("`check`"), "{out}");
    let (code, out) = run(&cargo, &["test", "--", "--no-run"]);
    assert!(code == Some(0) && !out.contains("no check"), "{out}");
}

#[test]
fn a_list_that_is_damaged_is_refused() {
    let (_, cargo) = cargo("damaged-table", "{\"checks\": 7}\n", 0);
    let (code, out) = run(&cargo, &["test"]);
    assert!(code == Some(2) && out.contains("line 1: it has version 7, and 1 is understood"), "{out}");
}
