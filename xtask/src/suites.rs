//! Published crates with tests for loom or Shuttle, on these and on the stand-ins: `cargo xtask suites`.
//!
//! Sources are fetched into a folder outside the repository. Each crate is built twice: as it is, and with one
//! addition to its manifest, a `[patch]` that puts the stand-in. Each test is a process of its
//! own, with a limit on its CPU seconds; a test that reaches it counts as that many. The time is that of the whole
//! process, user and system; of a short test without what the process takes that runs no test.
//!
//! `--own` runs the tests that loom publishes with itself, on the stand-in only: what differs is explained in
//! `docs/loom.md`. `--docs` runs the examples of loom's and Shuttle's documentation on the stand-ins. `--runtime`
//! runs the tests of tokio's runtime, which are large: `docs/suites.md` lists those that do not end.

mod docs;
mod fetch;
mod process;
mod runtime;

use std::path::{Path, PathBuf};

use crate::Problem;
use crate::listed::{names, tests_of};
use crate::numbers::{geometric_mean, seconds, short, table};

use self::fetch::{Built, build, build_empty, fetch, own_tests};
use self::process::{Run, TestResult, time, time_empty};

/// A published crate with tests for loom or Shuttle.
pub(crate) struct Suite {
    name: &'static str,
    version: &'static str,
    /// What `RUSTFLAGS` must be.
    flags: &'static str,
    /// What cargo needs to build the tests.
    arguments: &'static [&'static str],
    /// What the names of tests begin with that are run.
    tests: &'static str,
    /// The package that is patched.
    package: &'static str,
    /// The folder of the stand-in for the version that it uses.
    stand_in: &'static str,
    /// What the environment of its tests must be.
    variables: &'static [(&'static str, &'static str)],
    /// Whether it is run only if it is asked for.
    is_further: bool,
}

/// What most suites have.
const USUAL: Suite = Suite {
    name: "",
    version: "",
    flags: "--cfg loom",
    arguments: &["--lib"],
    tests: "",
    package: "loom",
    stand_in: "loom",
    variables: &[],
    is_further: false,
};

const SUITES: [Suite; 13] = [
    Suite {
        name: "concurrent-queue",
        version: "2.5.0",
        arguments: &["--features", "loom", "--test", "loom"],
        ..USUAL
    },
    Suite {
        name: "crossbeam-epoch",
        version: "0.9.18",
        flags: "--cfg crossbeam_loom",
        arguments: &["--features", "loom", "--test", "loom"],
        ..USUAL
    },
    Suite {
        name: "parking",
        version: "2.2.1",
        arguments: &["--features", "loom", "--test", "loom"],
        ..USUAL
    },
    Suite { name: "left-right", version: "0.11.7", arguments: &["--test", "loom"], ..USUAL },
    Suite {
        name: "tokio",
        version: "1.48.0",
        flags: "--cfg loom --cfg tokio_unstable -C debug-assertions",
        arguments: &["--features", "full,test-util", "--lib"],
        tests: "sync::tests::",
        ..USUAL
    },
    Suite { name: "sharded-slab", version: "0.1.7", stand_in: "loom-0.5", is_further: true, ..USUAL },
    Suite {
        name: "thingbuf",
        version: "0.1.6",
        flags: "--cfg loom -C debug-assertions",
        stand_in: "loom-0.5",
        is_further: true,
        ..USUAL
    },
    Suite {
        name: "yring",
        version: "0.3.20",
        arguments: &["--features", "async", "--test", "loom"],
        is_further: true,
        ..USUAL
    },
    Suite {
        name: "idr-ebr",
        version: "0.3.3",
        flags: "--cfg idr_ebr_loom -C debug-assertions",
        arguments: &["--features", "loom", "--test", "loom"],
        is_further: true,
        ..USUAL
    },
    Suite {
        name: "arcshift",
        version: "0.4.10",
        arguments: &["--features", "loom,validate", "--lib"],
        variables: &[("LOOM_MAX_BRANCHES", "4000")],
        is_further: true,
        ..USUAL
    },
    Suite {
        name: "arcshift",
        version: "0.4.10",
        flags: "",
        arguments: &["--features", "shuttle,validate,disable_slow_tests", "--lib"],
        package: "shuttle",
        stand_in: "shuttle-0.7",
        is_further: true,
        ..USUAL
    },
    Suite {
        name: "quick_cache",
        version: "0.7.0",
        flags: "",
        arguments: &["--features", "shuttle", "--lib"],
        tests: "shuttle_tests::",
        package: "shuttle",
        stand_in: "shuttle-0.8",
        is_further: true,
        ..USUAL
    },
    Suite {
        name: "awkernel_sync",
        version: "0.1.1",
        arguments: &["--features", "std", "--test", "model_check_rwlock"],
        is_further: true,
        ..USUAL
    },
];

/// The heading in `docs/suites.md` under which tests are listed that do not pass, in backticks, with their crates.
const HEADING: &str = "## Tests of further suites that do not pass";

#[derive(clap::Args)]
pub(crate) struct Suites {
    /// Only crates whose name contains this; further ones, such as those that use loom 0.5 or Shuttle, are run only if they
    /// are asked for.
    #[arg(long)]
    only: Option<String>,
    /// Only tests whose name contains this.
    #[arg(long)]
    test: Option<String>,
    /// CPU seconds of a test at most.
    #[arg(long, default_value_t = 120)]
    cap: u64,
    /// Preemptions of an execution at most.
    #[arg(long, default_value_t = 2)]
    bound: u32,
    /// Leaves out the runs without a bound.
    #[arg(long)]
    bounded_only: bool,
    /// Leaves out the runs on loom.
    #[arg(long)]
    ours_only: bool,
    /// Runs the tests that loom publishes with itself, instead.
    #[arg(long)]
    own: bool,
    /// Runs the examples of loom's and Shuttle's documentation, instead.
    #[arg(long)]
    docs: bool,
    /// Runs the tests of tokio's runtime, instead.
    #[arg(long)]
    runtime: bool,
    /// Where sources and what is built of them go; in the folder for temporary files unless set.
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Prints the table as Markdown.
    #[arg(long)]
    markdown: bool,
}

/// What came of a test.
struct Row {
    name: String,
    loom: Option<Run>,
    ours: Run,
    /// Without a bound.
    whole: Option<Run>,
}

impl Suites {
    pub(crate) fn run(&self) -> Result<(), Problem> {
        let folder = self.folder.clone().unwrap_or_else(|| std::env::temp_dir().join("unpick-suites"));
        if self.own {
            return own_tests(&folder);
        }
        if self.docs {
            return docs::run(&folder);
        }
        if self.runtime {
            return self.run_runtime(&folder);
        }
        let wanted = |suite: &&Suite| match &self.only {
            Some(only) => suite.name.contains(only.as_str()),
            None => !suite.is_further,
        };
        let harness = time_empty(&build_empty(&folder)?)?;
        println!("a test that does nothing: {}", seconds(harness));
        let mut rows = Vec::new();
        for suite in SUITES.iter().filter(wanted) {
            self.measure(suite, &folder, harness, &mut rows)?;
        }
        self.report(&rows)
    }

    fn measure(
        &self,
        suite: &Suite,
        folder: &Path,
        harness: f64,
        rows: &mut Vec<Row>,
    ) -> Result<(), Problem> {
        let source = fetch(suite.name, suite.version, folder)?;
        let ours = build(suite, &source, folder, true)?;
        let loom = if self.ours_only { None } else { Some(build(suite, &source, folder, false)?) };
        let tests = tests_of(&ours.program, &[])?;
        let wanted = |test: &&String| {
            test.starts_with(suite.tests)
                && self.test.as_ref().is_none_or(|part| test.contains(part.as_str()))
        };
        for test in tests.iter().filter(wanted) {
            let on = |built: &Built, bound| time(built, test, bound, self.cap, harness);
            let row = Row {
                name: format!("{} {}", suite.title(), test.trim_start_matches(suite.tests)),
                ours: on(&ours, Some(self.bound))?,
                whole: if self.bounded_only { None } else { Some(on(&ours, None)?) },
                loom: loom.as_ref().map(|loom| on(loom, Some(self.bound))).transpose()?,
            };
            println!("{}", self.cells(&row).join(" | "));
            rows.push(row);
        }
        Ok(())
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let run = |run: &Run| format!("{} {}", seconds(run.cpu), run.result);
        let optional = |wanted: &Option<Run>| wanted.as_ref().map_or_else(|| String::from("-"), run);
        let ratio = row.ratio().map_or_else(|| String::from("-"), short);
        vec![row.name.clone(), optional(&row.loom), run(&row.ours), ratio, optional(&row.whole)]
    }

    fn report(&self, rows: &[Row]) -> Result<(), Problem> {
        let bound = self.bound;
        let head =
            ["test", &format!("loom, bound {bound}"), &format!("unpick, bound {bound}"), "ratio", "no bound"];
        let mut lines = vec![head.map(String::from).to_vec()];
        lines.extend(rows.iter().map(|row| self.cells(row)));
        println!("\n{}", table(&lines, self.markdown));
        let total = |cpu: &dyn Fn(&Row) -> f64| rows.iter().map(cpu).sum::<f64>();
        let ours = total(&|row| row.ours.cpu);
        if !self.ours_only {
            let loom = total(&|row| row.loom.as_ref().map_or(0.0, |run| run.cpu));
            let ratios: Vec<f64> = rows.iter().filter_map(Row::ratio).collect();
            println!(
                "CPU in all: loom {}, unpick {}: {} times less",
                seconds(loom),
                seconds(ours),
                short(loom / ours)
            );
            if let Some(mean) = geometric_mean(&ratios) {
                println!("geometric mean of the ratios: {}", short(mean));
            }
        }
        let whole = rows.iter().filter(|row| row.whole.as_ref().is_some_and(Run::is_fine)).count();
        if !self.bounded_only {
            println!("{whole} of {} tests are exhausted without a bound", rows.len());
        }
        let listed = names("docs/suites.md", HEADING)?;
        let told = |row: &Row| match (row.ours.result, listed.contains(&row.name)) {
            (TestResult::Passed, true) => Some(format!("{} passes, and is listed", row.name)),
            (TestResult::Passed, false) | (_, true) => None,
            // What ends in time on neither says nothing of unpick.
            (TestResult::Capped, _) if row.loom.as_ref().is_some_and(Run::is_capped) => None,
            (_, false) => Some(format!("{} does not pass, and is not listed", row.name)),
        };
        let wrong: Vec<String> = rows.iter().filter_map(told).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }
}

impl Suite {
    /// The crate, and the tool if that is not loom.
    fn title(&self) -> String {
        if self.package == "loom" {
            String::from(self.name)
        } else {
            format!("{} ({})", self.name, self.package)
        }
    }
}

impl Row {
    /// How many times as much CPU loom took.
    fn ratio(&self) -> Option<f64> {
        self.loom.as_ref().map(|loom| loom.cpu / self.ours.cpu)
    }
}
