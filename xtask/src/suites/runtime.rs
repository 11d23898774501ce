//! The tests of tokio's runtime: `cargo xtask suites --runtime`.
//!
//! Most are too large to be exhausted, with any tool. All are run under the cap, and `docs/suites.md` lists
//! those that do not pass, each with the reason. One that is not listed, or that is and passes, is a failure of
//! this command.

use std::path::Path;

use super::fetch::{build, build_empty, fetch};
use super::process::{TestResult, time, time_empty};
use super::{Row, SUITES, Suites};
use crate::Problem;
use crate::listed::{names, tests_of};
use crate::numbers::table;

/// What the names of these tests begin with.
const TESTS: &str = "runtime::tests::loom_";

/// The heading in `docs/suites.md` under which tests are listed, in backticks.
const HEADING: &str = "## Tests of tokio's runtime that are left out";

impl Suites {
    /// Runs them, and compares with what is listed.
    pub(super) fn run_runtime(&self, folder: &Path) -> Result<(), Problem> {
        let harness = time_empty(&build_empty(folder)?)?;
        let suite =
            SUITES.iter().find(|suite| suite.name == "tokio").ok_or("tokio is not among the suites")?;
        let source = fetch(suite.name, suite.version, folder)?;
        let ours = build(suite, &source, folder, true)?;
        let loom = if self.ours_only { None } else { Some(build(suite, &source, folder, false)?) };
        let left_out = names("docs/suites.md", HEADING)?;
        let (mut rows, mut wrong) = (Vec::new(), Vec::new());
        let tests = tests_of(&ours.program, &[])?;
        let wanted = |test: &&String| {
            test.starts_with(TESTS) && self.test.as_ref().is_none_or(|part| test.contains(part.as_str()))
        };
        for test in tests.iter().filter(wanted) {
            let name = test.trim_start_matches(TESTS).to_string();
            let row = Row {
                ours: time(&ours, test, Some(self.bound), self.cap, harness)?,
                whole: None,
                loom: loom
                    .as_ref()
                    .map(|loom| time(loom, test, Some(self.bound), self.cap, harness))
                    .transpose()?,
                name,
            };
            println!("{}", self.cells(&row).join(" | "));
            match (row.ours.result, left_out.contains(&row.name)) {
                (TestResult::Passed, true) => wrong.push(format!("{} passes, and is listed", row.name)),
                (TestResult::Passed, false) | (_, true) => {}
                (_, false) => wrong.push(format!("{} does not pass, and is not listed", row.name)),
            }
            rows.push(row);
        }
        let mut lines = vec![["test", "loom", "unpick", "ratio", ""].map(String::from).to_vec()];
        lines.extend(rows.iter().map(|row| self.cells(row)));
        println!("\n{}", table(&lines, self.markdown));
        let passed = rows.iter().filter(|row| row.ours.is_fine()).count();
        println!("{passed} of {} tests pass", rows.len());
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }
}
