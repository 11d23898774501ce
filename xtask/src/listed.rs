//! Tests of another tool on its stand-in, compared with the list of those that are known to end differently.
//!
//! Each test is a process of its own, since some hang. The list is a part of the documentation, with the reasons; a
//! test that fails and is not listed, or that is listed and passes, is a failure.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Problem;
use crate::shell::{output, root};

/// A test program, and what the names of its tests begin with in the list.
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) prefix: String,
}

/// The tests that are known to end differently, or modules of such.
pub(crate) struct Listed {
    file: &'static str,
    names: Vec<String>,
    passed: usize,
    different: usize,
    wrong: Vec<String>,
}

impl Listed {
    /// Reads the list from below a heading of a file, where names are in backticks.
    pub(crate) fn read(file: &'static str, heading: &str) -> Result<Listed, Problem> {
        let names = names(file, heading)?;
        Ok(Listed { file, names, passed: 0, different: 0, wrong: Vec::new() })
    }

    /// Runs the tests of a program that are wanted, each for as long as that.
    pub(crate) fn compare(
        &mut self,
        program: &Program,
        limit: Duration,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<(), Problem> {
        let ignored = tests_of(&program.path, &["--ignored"])?;
        let runs = |test: &String| !ignored.contains(test) && is_wanted(test);
        for test in tests_of(&program.path, &[])?.into_iter().filter(runs) {
            let name = format!("{}{test}", program.prefix);
            match (passes(&program.path, &test, limit)?, self.has(&name)) {
                (true, false) => self.passed += 1,
                (false, true) => self.different += 1,
                // Of a module, some tests may pass.
                (true, true) if self.names.contains(&name) => {
                    self.wrong.push(format!("{name} passes, and is listed"));
                }
                (true, true) => self.passed += 1,
                (false, false) => self.wrong.push(format!("{name} fails, and is not listed")),
            }
        }
        Ok(())
    }

    /// Says what came of it.
    pub(crate) fn conclude(self) -> Result<(), Problem> {
        println!("{} tests pass; {} end differently, as {} says", self.passed, self.different, self.file);
        if self.wrong.is_empty() { Ok(()) } else { Err(self.wrong.join("\n")) }
    }

    fn has(&self, test: &str) -> bool {
        let is = |name: &String| {
            name == test || name.strip_suffix('*').is_some_and(|start| test.starts_with(start))
        };
        self.names.iter().any(is)
    }
}

/// The names of tests, in backticks, below a heading of a file.
pub(crate) fn names(file: &str, heading: &str) -> Result<Vec<String>, Problem> {
    let text = fs::read_to_string(root().join(file)).map_err(|error| format!("{file}: {error}"))?;
    let (_, part) = text.split_once(heading).ok_or_else(|| format!("{file} has no `{heading}`"))?;
    let part = part.split("\n## ").next().unwrap_or(part);
    Ok(part.split('`').skip(1).step_by(2).filter(|name| name.contains("::")).map(String::from).collect())
}

/// The test programs, with their names, from what cargo says about what it built.
pub(crate) fn built(messages: &str) -> impl DoubleEndedIterator<Item = (String, PathBuf)> {
    messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let path = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
        Some((message["target"]["name"].as_str()?.to_string(), PathBuf::from(path)))
    })
}

/// The names of all tests of a program, or of those that a flag asks for.
pub(crate) fn tests_of(program: &Path, flags: &[&str]) -> Result<Vec<String>, Problem> {
    let list = output(Command::new(program).args(["--list", "--format", "terse"]).args(flags))?;
    Ok(list.lines().filter_map(|line| line.strip_suffix(": test")).map(String::from).collect())
}

fn passes(program: &Path, test: &str, limit: Duration) -> Result<bool, Problem> {
    let mut command = Command::new(program);
    command.args([test, "--exact", "--test-threads=1"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if started.elapsed() < limit => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                child.kill().and_then(|()| child.wait()).map_err(|error| format!("{test}: {error}"))?;
                return Ok(false);
            }
        }
    }
}
