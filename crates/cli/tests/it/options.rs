//! Options for C and C++ programs, with the runtime that is built in.

use std::path::{Path, PathBuf};
use std::process::Command;

fn unpick() -> Command {
    crate::native("options-cache")
}

/// Builds a program of the runtime's tests, with its bug.
fn built(name: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/c").join(name);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("option-{name}"));
    let status = unpick().args(["cc", "-DBUG"]).arg(source).arg("-o").arg(&program).status();
    assert!(status.is_ok_and(|status| status.success()));
    program
}

#[test]
fn options_make_a_difference() {
    for (name, option, without, with, says) in [
        ("uninitialised.c", "--uninitialised", 0, 1, "memory is read that nothing was written to"),
        ("unordered_writes.c", "--unordered-writes", 0, 0, "warning: two writes to `last` are not ordered"),
        ("random_choices.c", "--random=3", 1, 1, "first != 2 || second != 1 || third < 0.6"),
        ("clock_jumps.c", "--clock-jumps", 0, 1, "now.tv_sec - first < 60"),
    ] {
        let program = built(name);
        let said = |options: &[&str]| {
            let output =
                unpick().arg("run").args(options).arg(&program).output().expect("unpick can be started");
            let text =
                [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            (output.status.code(), text.concat())
        };
        let (code, text) = said(&[]);
        assert!(code == Some(without) && !text.contains(says), "{name}: {text}");
        let (code, text) = said(&[option]);
        assert!(code == Some(with) && text.contains(says), "{name}: {text}");
    }
    let (code, text) = {
        let output =
            unpick().args(["run", "--random=0", "/bin/true"]).output().expect("unpick can be started");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(code == Some(2) && text.contains("UNPICK_RANDOM is a whole number from 1"), "{text}");
}

#[test]
fn loops_are_recognised_unless_that_is_off() {
    let program = built("spin.c");
    let explore = |option: &str, variables: &[(&str, &str)]| {
        let mut command = unpick();
        command.arg("run").arg(option).arg(&program).envs(variables.iter().copied());
        let output = command.output().expect("unpick can be started");
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (output.status.code(), text.concat())
    };
    for (option, variables, expected, says) in [
        ("--loops=on", &[][..], 1, "violated: livelock"),
        ("--loops=off", &[][..], 3, "a loop was cut that went on reading the same values"),
        ("--time=1m", &[("UNPICK_LOOPS", "off"), ("UNPICK_MAX_ROUNDS", "3")][..], 3, "spin.c:15"),
        ("--time=1m", &[("UNPICK_LOOPS", "some")][..], 2, "UNPICK_LOOPS"),
        ("--loops=some", &[][..], 2, "[possible values: on, off]"),
    ] {
        let (code, text) = explore(option, variables);
        assert!(code == Some(expected) && text.contains(says), "{option} {variables:?}: {text}");
    }
}
