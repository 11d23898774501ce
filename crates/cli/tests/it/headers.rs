//! The headers for C and C++ programs, with the runtime that is built in.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn unpick() -> Command {
    crate::native("headers-cache")
}

/// Builds a program of this folder.
fn built(name: &str, language: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/programs").join(name);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("header-{name}-{}", language.len()));
    let output = unpick().args([language, "-Wall"]).arg(source).arg("-o").arg(&program).output();
    let output = output.expect("unpick can be started");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}

/// Explores a program; gives the exit code, the first line of the verdict up to what it assumes, and all that is said.
fn explored(program: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = unpick();
    command.args(["run", "--strategy", "optimal", "--"]).arg(program).args(arguments);
    let Output { status, stdout, stderr } = command.output().expect("unpick can be started");
    let said = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let line = said
        .lines()
        .find(|line| ["holds", "violated", "inconclusive"].iter().any(|word| line.starts_with(word)));
    (status.code(), line.unwrap_or_default().to_string(), said)
}

#[test]
fn what_the_header_offers_does_what_it_says() {
    let program = built("header.c", "cc");
    for (part, code, verdict) in [
        ("choose", 0, "holds (cpp20 and optimal: 3 executions, 1 blocked)"),
        ("await", 0, "holds (cpp20 and optimal: 1 execution"),
        ("spin", 0, "holds (cpp20 and optimal: 1 execution"),
        ("result", 0, "holds (cpp20 and optimal: 1 execution, 1 blocked)"),
        ("sections", 0, "holds (cpp20 and optimal: 2 executions)"),
        ("ignored", 0, "holds (cpp20 and optimal: 1 execution)"),
        ("require", 1, "violated: "),
        ("forbid", 1, "violated: "),
        ("race", 1, "violated: data race"),
        ("watched", 1, "violated: data race"),
        ("label", 1, "violated: "),
    ] {
        let (ended, line, said) = explored(&program, &[part]);
        assert_eq!(ended, Some(code), "{part}: {said}");
        assert!(line.starts_with(verdict), "{part}: {line}\n{said}");
        match part {
            "require" => assert!(
                said.contains("required: unpick_choose(2) == 0") && said.contains("header.c:"),
                "{said}"
            ),
            "forbid" => assert!(said.contains("forbidden: unpick_choose(2) == 1"), "{said}"),
            "label" => assert!(said.contains("the word is 42"), "{said}"),
            _ => {}
        }
    }
}

#[test]
fn without_an_exploration_the_header_does_nothing() {
    let program = built("header.c", "cc");
    let plain = |part: &str| Command::new(&program).arg(part).output().expect("it runs");
    for part in ["choose", "await", "spin", "sections", "ignored", "race", "require", "forbid"] {
        let Output { status, stdout, stderr } = plain(part);
        assert_eq!(
            (status.code(), stdout.as_slice(), stderr.as_slice()),
            (Some(0), &b""[..], &b""[..]),
            "{part}"
        );
    }
    // And without the runtime.
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/programs/header.c");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let alone = Path::new(env!("CARGO_TARGET_TMPDIR")).join("header-alone");
    let status =
        Command::new("cc").arg("-I").arg(include).arg(source).arg("-o").arg(&alone).arg("-pthread").status();
    assert!(status.is_ok_and(|status| status.success()));
    assert!(Command::new(&alone).arg("choose").status().is_ok_and(|status| status.success()));
}

#[test]
fn programs_for_genmc_are_checked() {
    let (code, line, said) = explored(&built("genmc.c", "cc"), &[]);
    assert_eq!(code, Some(0), "{said}");
    // Both read 0: one of two swaps comes first. One reads 1: it is blocked.
    assert_eq!(line, "holds (cpp20 and optimal: 2 executions, 2 blocked)", "{said}");
}

#[test]
fn the_library_of_cxx_works_in_every_execution() {
    let sink = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/c/kitchen_sink.cpp");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kitchen-sink");
    let output = unpick().args(["c++", "-std=c++20"]).arg(sink).arg("-o").arg(&program).output();
    let output = output.expect("unpick can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // With a weak memory, latches and waiting on atomics lose wake-ups in libstdc++ 12: `notify` looks whether anybody waits
    // without a fence after the store.
    let weak = (0..12).filter(|part| ![1, 3].contains(part)).map(|part| ("cpp20", part));
    for (model, part) in (0..12).map(|part| ("sc", part)).chain(weak) {
        let mut command = unpick();
        command.args(["run", "--time", "2s", "--model", model, "--"]).arg(&program).arg(part.to_string());
        let output = command.output().expect("unpick can be started");
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 3)), "part {part} under {model}: {said}");
    }
}
