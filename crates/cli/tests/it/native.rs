//! Reports of C++ programs: names, places, call stacks, and what can be done with them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

fn unpick() -> Command {
    crate::native("native-cache")
}

fn said(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().expect("it can be started");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code(), text.concat())
}

fn built(options: &[&str]) -> PathBuf {
    static BUILT: AtomicUsize = AtomicUsize::new(0);
    let number = BUILT.fetch_add(1, Relaxed);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/programs/names.cpp");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("names-{number}{}", options.concat()));
    let (code, text) = said(unpick().arg("c++").args(options).arg(source).arg("-o").arg(&program));
    assert_eq!(code, Some(0), "{text}");
    program
}

/// The line of the source that has a text.
fn line(text: &str) -> String {
    let source = include_str!("programs/names.cpp");
    let number = source.lines().position(|line| line.contains(text)).expect("the source has it") + 1;
    format!("names.cpp:{number}")
}

#[test]
fn reports_have_the_names_of_the_program() {
    for options in [&["-O1"][..], &["-O0"], &["-O1", "-gz"]] {
        let (code, report) = said(unpick().arg("run").arg(built(options)).env("COLUMNS", "200"));
        assert_eq!(code, Some(1), "{report}");
        let step = |what: &str, place: &str| {
            let found = report.lines().any(|line| line.contains(what) && line.ends_with(place));
            assert!(found, "{options:?}: no `{what}` with {place} in\n{report}");
        };
        let second = line("std::thread second");
        let (_, second) = second.split_once(':').expect("it has a line");
        step("spawn T1, T2", &format!("{}-{second}", line("std::thread first")));
        step("table.nodes[2].uses.store(1, Relaxed)", &line("table.nodes[2].uses"));
        step("Queue.size.fetch_add(Relaxed)", &line("size.fetch_add"));
        step("Queue.last write", &line("last = value"));
        step("at queue::Queue::push", &format!("{})", line("last = value")));
        step("at operator()", &format!("{})", line("std::thread second")));
    }
}

#[test]
fn a_report_that_was_kept_is_explained_and_replayed() {
    let program = built(&["-O1", "-Wall"]);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native-reports");
    let (code, report) =
        said(unpick().arg("run").arg("--reports").arg(&folder).arg(&program).arg("two words"));
    assert_eq!(code, Some(1), "{report}");
    let (_, explained) = said(unpick().arg("explain").arg(folder.join("1-data-race.json")));
    let replay = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("replay: unpick "));
        line.unwrap_or_else(|| panic!("no command in\n{text}")).to_string()
    };
    assert!(
        report.starts_with(explained.trim_end()),
        "shown otherwise than at first:\n{explained}\n{report}"
    );
    let command = replay(&explained);
    assert_eq!(command, replay(&report));
    assert!(command.ends_with(&format!(" {} 'two words'", program.display())), "{command}");
    let mut again = unpick();
    let words = command.split(' ').filter(|word| !word.contains('\''));
    let (code, report) = said(again.args(words).arg("two words"));
    assert_eq!(code, Some(1), "{report}");
    assert!(report.contains("error: data race"), "{report}");
    // A token may come in a file.
    let file = folder.join("token");
    std::fs::write(&file, command.split(' ').nth(1).expect("there is a token")).expect("it can be written");
    let (code, report) = said(unpick().arg("replay").arg(&file).arg(&program).arg("two words"));
    assert_eq!(code, Some(1), "{report}");
}

#[test]
fn a_debugger_needs_a_program() {
    let (code, said) = said(unpick().args(["replay", "--gdb", "u1x"]));
    assert_eq!(code, Some(2));
    assert!(said.contains("--gdb is for C and C++ programs"), "{said}");
}
