//! The README shows what unpick says.

use unpick::Check;
use unpick::report::{TextOptions, text};

#[path = "../examples/readme.rs"]
#[allow(dead_code, reason = "the example has a `main` of its own, and shows its report")]
mod example;

const README: &str = include_str!("../../../README.md");
const EXAMPLE: &str = include_str!("../examples/readme.rs");

/// The first block of the README that starts with this line of backticks.
fn block(opening: &str) -> &'static str {
    let (_, rest) = README.split_once(opening).expect("the README has the block");
    rest.split_once("```\n").expect("the block ends").0
}

#[test]
fn the_code_is_that_of_the_example() {
    let code = block("```rust\n");
    assert!(EXAMPLE.contains(code), "examples/readme.rs does not contain:\n{code}");
}

/// Call stacks are left out: they name the compiler's own files, and change with each release of it.
#[test]
fn the_report_is_that_of_the_example() {
    let verdict = Check::new().run(example::announce).expect("the check can be carried out");
    let mut finding = verdict.violation().expect("the example has a bug").clone();
    finding.trace.stacks.clear();
    let report = text(&finding, &TextOptions::default()).replace("tests/../", "");
    assert_eq!(block("```text\n"), report);
}
