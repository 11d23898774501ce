//! Litmus files: a program, and what each memory model makes of it.
//!
//! ```text
//! # Comments start with a hash.
//! name: MP+na-racy
//! by: oracle
//! thread: Wna x 1; Wrlx y 1
//! thread: a=Rrlx y; if(a==1){b=Rna x}
//! outcome: a==1 and b==0
//! sc: 2 complete, forbidden
//! rc11: 3 complete, 2 racy, allowed
//! ```
//!
//! One line per thread; initial values other than 0 on a line `init: x=1; y=1`. The outcome speaks of
//! complete graphs, over registers and final memory; it is optional. Counts that are 0 are left out,
//! save the first. `by` says where the counts come from: `oracle` when brute force can confirm them,
//! `formula` when it cannot, and then a model may be missing. The rule: a file is read in full or not
//! at all; an unknown line is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::model::Model;
use crate::oracle::{Ending, Outcome, Truth};
use crate::parse::expression;
use crate::program::{Expr, Program, Value};

/// What one model makes of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Complete graphs.
    pub complete: u64,
    /// Blocked graphs, deadlocks included.
    pub blocked: u64,
    /// Deadlocks.
    pub deadlock: u64,
    /// Graphs with a data race.
    pub racy: u64,
    /// Whether the outcome is allowed, when the test names one.
    pub allowed: Option<bool>,
}

/// A litmus test.
#[derive(Clone, Debug)]
pub struct Litmus {
    /// The name of the test.
    pub name: String,
    /// Comment lines, without their hash.
    pub comments: Vec<String>,
    /// Whether brute force can confirm the counts.
    pub by_oracle: bool,
    /// The program.
    pub program: Program,
    /// The outcome in question.
    pub outcome: Option<Predicate>,
    /// What each model says.
    pub expect: BTreeMap<Model, Expect>,
}

/// A condition on the registers of all threads and on the final memory.
#[derive(Clone, Debug)]
pub struct Predicate {
    text: String,
    expr: Expr,
}

impl Predicate {
    /// Reads a condition; names are those of `program`, where a register hides one of a later thread.
    pub fn parse(text: &str, program: &Program) -> Result<Predicate, LitmusError> {
        let registers = program.threads.iter().flat_map(|thread| &thread.registers);
        let names: Vec<&String> = registers.chain(program.locations.iter().map(|l| &l.name)).collect();
        let resolve = |name: &str| names.iter().position(|known| *known == name).map(|index| index as u16);
        let expr = expression(text, &resolve).map_err(|error| LitmusError::new(error.to_string()))?;
        Ok(Predicate { text: text.to_string(), expr })
    }

    /// The condition; its registers are those of all threads, one thread after the other, and then the locations.
    pub(crate) fn expression(&self) -> &Expr {
        &self.expr
    }

    /// Whether the condition holds of an outcome of the same program.
    pub fn holds(&self, outcome: &Outcome) -> bool {
        let registers = outcome.registers.iter().flatten();
        let values: Vec<Value> = registers.chain(&outcome.memory).copied().collect();
        self.expr.eval(&values) != 0
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a litmus file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LitmusError {
    message: String,
}

impl LitmusError {
    fn new(message: impl Into<String>) -> LitmusError {
        LitmusError { message: message.into() }
    }

    fn within(self, place: impl fmt::Display) -> LitmusError {
        LitmusError { message: format!("{place}: {}", self.message) }
    }
}

impl fmt::Display for LitmusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LitmusError {}

/// Reads all `*.litmus` files below `folder`, sorted by path. Names are unique.
pub fn load(folder: &Path) -> Result<Vec<(PathBuf, Litmus)>, LitmusError> {
    let mut paths = Vec::new();
    collect(folder, &mut paths)?;
    paths.sort();
    let mut names = BTreeSet::new();
    let mut tests = Vec::new();
    for path in paths {
        let in_file = |error: LitmusError| error.within(path.display());
        let text = fs::read_to_string(&path).map_err(|error| in_file(LitmusError::new(error.to_string())))?;
        let test = Litmus::parse(&text).map_err(in_file)?;
        if !names.insert(test.name.clone()) {
            return Err(in_file(LitmusError::new(format!("the name `{}` is taken", test.name))));
        }
        tests.push((path, test));
    }
    Ok(tests)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), LitmusError> {
    let failed = |error: std::io::Error| LitmusError::new(error.to_string()).within(folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "litmus") {
            paths.push(path);
        }
    }
    Ok(())
}

impl Litmus {
    /// Reads one test.
    pub fn parse(text: &str) -> Result<Litmus, LitmusError> {
        let (mut name, mut by, mut init, mut outcome) = (None, None, None, None);
        let (mut comments, mut threads, mut expect) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            let wrong = |message: &str| LitmusError::new(format!("line {}: {message}", index + 1));
            if let Some(comment) = line.strip_prefix('#') {
                comments.push(comment.trim().to_string());
                continue;
            }
            if line.is_empty() {
                continue;
            }
            let (field, value) = line.split_once(':').ok_or_else(|| wrong("expected `field: value`"))?;
            let value = value.trim();
            let twice = match field {
                "name" => name.replace(value).is_some(),
                "by" => by.replace(value).is_some(),
                "init" => init.replace(value).is_some(),
                "outcome" => outcome.replace(value).is_some(),
                "thread" => {
                    threads.push(value);
                    false
                }
                _ => {
                    let model = Model::from_name(field).ok_or_else(|| wrong("unknown field"))?;
                    let counts = Expect::parse(value).map_err(|error| wrong(&error.message))?;
                    expect.insert(model, counts).is_some()
                }
            };
            if twice {
                return Err(wrong("the field is there twice"));
            }
        }
        let missing = |field: &str| LitmusError::new(format!("the field `{field}` is missing"));
        let by_oracle = match by.ok_or_else(|| missing("by"))? {
            "oracle" => true,
            "formula" => false,
            _ => return Err(LitmusError::new("`by` is `oracle` or `formula`")),
        };
        let source = format!("{{{}}} {}", init.unwrap_or_default(), threads.join(" || "));
        let program = Program::parse(&source)
            .map_err(|error| LitmusError::new(format!("{error} of the program `{source}`")))?;
        if program.threads.len() != threads.len() {
            return Err(LitmusError::new("each `thread` line holds exactly one thread"));
        }
        let outcome = outcome.map(|text| Predicate::parse(text, &program)).transpose()?;
        if expect.values().any(|counts: &Expect| counts.allowed.is_some() != outcome.is_some()) {
            return Err(LitmusError::new("`allowed` or `forbidden` goes with an outcome"));
        }
        let name = name.ok_or_else(|| missing("name"))?.to_string();
        Ok(Litmus { name, comments, by_oracle, program, outcome, expect })
    }

    /// What the oracle's answer means for this test.
    pub fn summary(&self, truth: &Truth) -> Expect {
        let Truth { complete, blocked, deadlock, racy, .. } = *truth;
        let allowed = self.outcome.as_ref().map(|predicate| {
            let mut finished = truth.outcomes.iter().filter(|outcome| outcome.ending == Ending::Complete);
            finished.any(|outcome| predicate.holds(outcome))
        });
        Expect { complete, blocked, deadlock, racy, allowed }
    }
}

impl Expect {
    fn parse(text: &str) -> Result<Expect, LitmusError> {
        let mut out = Expect::default();
        for part in text.split(',').map(str::trim) {
            match part {
                "allowed" => out.allowed = Some(true),
                "forbidden" => out.allowed = Some(false),
                _ => {
                    let unknown = || LitmusError::new(format!("`{part}` is not a count"));
                    let (count, what) = part.split_once(' ').ok_or_else(unknown)?;
                    let count = count.parse().map_err(|_| unknown())?;
                    match what {
                        "complete" => out.complete = count,
                        "blocked" => out.blocked = count,
                        "deadlock" => out.deadlock = count,
                        "racy" => out.racy = count,
                        _ => return Err(unknown()),
                    }
                }
            }
        }
        Ok(out)
    }
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} complete", self.complete)?;
        let optional = [(self.blocked, "blocked"), (self.deadlock, "deadlock"), (self.racy, "racy")];
        for (count, what) in optional.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, ", {count} {what}")?;
        }
        match self.allowed {
            Some(true) => f.write_str(", allowed"),
            Some(false) => f.write_str(", forbidden"),
            None => Ok(()),
        }
    }
}

/// The file form; reading it back gives the same test.
impl fmt::Display for Litmus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for comment in &self.comments {
            writeln!(f, "# {comment}")?;
        }
        writeln!(f, "name: {}", self.name)?;
        writeln!(f, "by: {}", if self.by_oracle { "oracle" } else { "formula" })?;
        let initial = self.program.initial_text();
        if !initial.is_empty() {
            writeln!(f, "init: {}", initial.trim().trim_matches(['{', '}']))?;
        }
        for thread in 0..self.program.threads.len() {
            writeln!(f, "thread: {}", self.program.thread_text(thread))?;
        }
        if let Some(outcome) = &self.outcome {
            writeln!(f, "outcome: {outcome}")?;
        }
        self.expect.iter().try_for_each(|(model, expect)| writeln!(f, "{model}: {expect}"))
    }
}
