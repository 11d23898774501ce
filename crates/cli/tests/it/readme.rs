//! The README shows what `unpick run` says of a C++ program.

use std::path::Path;

const README: &str = include_str!("../../../../README.md");

/// The block after a heading that starts with this line of backticks.
fn block(heading: &str, opening: &str) -> &'static str {
    let (_, section) = README.split_once(heading).expect("the README has the section");
    let (_, rest) = section.split_once(opening).expect("the section has the block");
    rest.split_once("```\n").expect("the block ends").0
}

/// Call stacks and the token are left out there, so lines may be missing, but none is different.
#[test]
fn two_commands_lead_to_the_report_of_the_readme() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the root is there");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("message");
    let mut said = String::new();
    for command in block("## Use it on C and C++", "```sh\n").lines() {
        let words = command.replace("-o message", &format!("-o {}", program.display()));
        let words = words.replace("./message", &program.display().to_string());
        let mut words = words.split(' ');
        assert_eq!(words.next(), Some("unpick"));
        let mut command = crate::native("readme-cache");
        command.args(words).current_dir(&root).env("COLUMNS", "100");
        let output = command.output().expect("unpick can be started");
        said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    }
    let said = said.replace(&format!("{}/", root.display()), "");
    let mut lines = said.lines();
    for expected in block("## Use it on C and C++", "```text\n").lines() {
        assert!(lines.any(|line| line.trim_end() == expected.trim_end()), "`{expected}` is not in\n{said}");
    }
}
