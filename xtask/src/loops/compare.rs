//! Compares what a check says about a program with what it says without waiting loops.
//!
//! The reference is the same program with at most [`ROUNDS`] rounds in each loop, explored without recognition of loops: a thread
//! that has spent them does nothing more. A program whose reference breaks a property must not hold, and one whose reference
//! does not must not break one. Whether threads may wait for ever is asked in a third run; as the answer is not exact if loops write,
//! differences in that are counted only.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use super::program::Program;
use super::verdict::{Verdict, checking, output};
use super::worker::{Worker, listen};
use crate::Problem;

/// Rounds of a loop in the reference.
pub(crate) const ROUNDS: usize = 4;

/// Rounds in the reference before it is said to lack a violation.
const MORE_ROUNDS: usize = 8;

/// Seconds for each run.
const TIME: u64 = 3;

/// Seconds for a run of a program that breaks a property, to see what else it breaks.
const MORE_TIME: u64 = 1;

/// So many kinds of violations are found in a run, if more than one is looked for.
const VIOLATIONS: usize = 9;

/// Violations that the reference cannot have.
const ENDLESS: [&str; 2] = ["livelock", "deadlock"];

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As it is.
    Real,
    /// With bounded loops.
    Bounded,
    /// With bounded loops, and for the question whether threads may wait for ever.
    Endless,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Real => "real",
            Way::Bounded => "bounded",
            Way::Endless => "endless",
        }
    }
}

/// Programs that were built together.
#[derive(Debug)]
pub(crate) enum Built {
    /// With a process that makes checks, if there is one.
    Rust { program: PathBuf, worker: Mutex<Option<Worker>> },
    /// With the command line that starts it.
    C { unpick: PathBuf, program: PathBuf },
}

/// How a program is run, and with which settings.
#[derive(Clone, Copy, Debug)]
struct Run {
    number: usize,
    model: &'static str,
    way: Way,
    rounds: usize,
    /// How many violations are looked for.
    violations: usize,
    /// How many seconds it may take.
    seconds: u64,
}

impl Run {
    /// The words that a program gets.
    fn words(&self) -> [String; 3] {
        [self.number.to_string(), self.way.name().to_string(), self.rounds.to_string()]
    }

    fn loops(&self) -> &'static str {
        if self.way == Way::Real { "on" } else { "off" }
    }

    /// The line that asks a [`Worker`] for it.
    fn question(&self) -> String {
        let Run { model, violations, seconds, .. } = self;
        format!("{} {model} {} {violations} {seconds}", self.words().join(" "), self.loops())
    }

    /// The command, with what is the same for all runs.
    fn settings(command: &mut Command) -> &mut Command {
        // Executions have a few dozen events.
        command.env("UNPICK_MAX_EVENTS", "400").env("UNPICK_STRATEGY", "optimal")
    }

    /// The command, with all settings.
    fn all_settings<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let command = Run::settings(command).args(self.words());
        command.env("UNPICK_LOOPS", self.loops()).env("UNPICK_MODEL", self.model);
        command.env("UNPICK_KEEP_GOING", self.violations.to_string()).env("UNPICK_VACUOUS", "1");
        command.env("UNPICK_TIME", format!("{}s", self.seconds))
    }
}

/// What a run said.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) verdict: Verdict,
    /// Titles of violations that any run can have.
    faults: BTreeSet<String>,
    /// Whether threads wait for ever.
    endless: bool,
}

impl Built {
    /// What a check says in a process of its own.
    fn alone(&self, run: Run) -> Result<String, Problem> {
        let mut command = match self {
            Built::Rust { program, .. } => checking(program),
            Built::C { unpick, program } => {
                let mut command = checking(unpick);
                command.args(["run", "--"]).arg(program);
                command
            }
        };
        output(run.all_settings(&mut command))
    }

    /// What a check says, if it can be had quickly.
    fn quickly(&self, run: Run) -> Option<String> {
        let (program, worker) = match self {
            Built::Rust { program, worker } => (program, worker),
            Built::C { program, .. } => return listen(run.all_settings(&mut checking(program))),
        };
        let kept = worker.lock().ok()?.take();
        let mut own = kept.or_else(|| Worker::start(Run::settings(&mut checking(program))))?;
        let said = own.ask(&run.question())?;
        *worker.lock().ok()? = Some(own);
        Some(said)
    }

    /// Runs a program in all ways, and compares. What is wrong must be so in processes of its own.
    pub(crate) fn judge(&self, number: usize, program: &Program) -> Result<Judgement, Problem> {
        let quickly = |run| self.quickly(run).map_or_else(|| self.alone(run), Ok);
        let judgement = judge(number, program, &quickly)?;
        if !judgement.result.is_wrong() {
            return Ok(judgement);
        }
        let alone = judge(number, program, &|run| self.alone(run))?;
        if alone.is_like(&judgement) {
            return Ok(alone);
        }
        let result = Outcome::Error(format!("not in a process of its own: {:?}", judgement.result));
        Ok(Judgement { result, ..judgement })
    }
}

/// Runs a program in all ways, and compares.
fn judge(
    number: usize,
    program: &Program,
    run: &dyn Fn(Run) -> Result<String, Problem>,
) -> Result<Judgement, Problem> {
    let model = program.model;
    let look = |way, rounds, violations, seconds| {
        run(Run { number, model, way, rounds, violations, seconds }).map(|said| Seen::read(&said))
    };
    let reference = |way, rounds| {
        // One fault is enough, but threads that wait for ever are none.
        let first = look(way, rounds, 1, TIME)?;
        if first.endless { look(way, rounds, VIOLATIONS, TIME) } else { Ok(first) }
    };
    let mut real = look(Way::Real, ROUNDS, VIOLATIONS, MORE_TIME)?;
    if let Verdict::Inconclusive(_) = &real.verdict {
        real = look(Way::Real, ROUNDS, 1, TIME)?;
    }
    if let Verdict::Inconclusive(reason) = &real.verdict {
        // What is named is a place in a source that nobody sees.
        let reason = reason.split(", at ").next().unwrap_or(reason).to_string();
        let (result, waits) = (Outcome::Inconclusive(reason), Waits::Neither);
        return Ok(Judgement { result, waits, real, reference: None });
    }
    let mut bounded = reference(Way::Bounded, ROUNDS)?;
    if !real.faults.is_empty() && bounded.verdict == Verdict::Holds {
        bounded = reference(Way::Bounded, MORE_ROUNDS)?;
    }
    let endless = reference(Way::Endless, ROUNDS)?;
    let (result, waits) = (compare(&real, &bounded), Waits::of(&real, &endless));
    Ok(Judgement { result, waits, real, reference: Some(bounded) })
}

impl Seen {
    fn read(said: &str) -> Seen {
        let verdict = Verdict::find(said);
        let mut titles = BTreeSet::new();
        if let Some(Verdict::Violated(first)) = &verdict {
            // Rust programs list all titles, and reports of C programs begin with theirs.
            let listed = first.split(", ").filter(|title| !title.starts_with("and ")).map(String::from);
            titles.extend(listed);
            titles.extend(said.lines().filter_map(|line| line.strip_prefix("error: ")).map(String::from));
        }
        let (endless, faults): (BTreeSet<String>, _) =
            titles.into_iter().partition(|title| ENDLESS.contains(&title.as_str()));
        let last = || said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        let verdict = verdict.unwrap_or_else(|| Verdict::Failed(last().trim().to_string()));
        Seen { verdict, faults, endless: !endless.is_empty() }
    }
}

/// How the real program and the reference differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Not at all.
    Same,
    /// The program holds, and the reference breaks a property.
    FalseHolds,
    /// The program breaks a property, and the reference does not.
    FalseAlarm,
    /// The check of the program failed, for this reason.
    Error(String),
    /// The program waits for ever, and the reference breaks another property.
    Hidden,
    /// The check of the program proves nothing, for this reason.
    Inconclusive(String),
    /// The reference proves nothing.
    TooLarge,
}

impl Outcome {
    /// Whether the check is wrong.
    pub(crate) fn is_wrong(&self) -> bool {
        matches!(self, Outcome::FalseHolds | Outcome::FalseAlarm | Outcome::Error(_))
    }
}

fn compare(real: &Seen, reference: &Seen) -> Outcome {
    if let Verdict::Failed(text) = &real.verdict {
        // After the semicolon comes advice.
        return Outcome::Error(text.split(';').next().unwrap_or(text).to_string());
    }
    if let Verdict::Failed(text) = &reference.verdict {
        return Outcome::Error(format!("in the reference: {text}"));
    }
    let sure = !matches!(reference.verdict, Verdict::Inconclusive(_));
    match (real.faults.is_empty(), reference.faults.is_empty()) {
        (true, true) | (false, true) if !sure => Outcome::TooLarge,
        (true, true) | (false, false) => Outcome::Same,
        (false, true) => Outcome::FalseAlarm,
        (true, false) if real.endless => Outcome::Hidden,
        (true, false) => Outcome::FalseHolds,
    }
}

/// Who says that threads wait for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Waits {
    Neither,
    Both,
    OnlyProgram,
    OnlyReference,
}

impl Waits {
    fn of(real: &Seen, endless: &Seen) -> Waits {
        let sure = |seen: &Seen| matches!(seen.verdict, Verdict::Holds | Verdict::Violated(_));
        match (real.endless, !endless.faults.is_empty()) {
            (true, true) => Waits::Both,
            (true, false) if sure(endless) => Waits::OnlyProgram,
            (false, true) if real.verdict == Verdict::Holds => Waits::OnlyReference,
            _ => Waits::Neither,
        }
    }
}

/// What came of a program.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    pub(crate) result: Outcome,
    pub(crate) waits: Waits,
    pub(crate) real: Seen,
    /// Nothing if the check of the program proves nothing.
    pub(crate) reference: Option<Seen>,
}

impl Judgement {
    /// Whether a smaller program shows the same as this one.
    pub(crate) fn is_like(&self, other: &Judgement) -> bool {
        let same = match (&self.result, &other.result) {
            (Outcome::Error(_), Outcome::Error(_)) => true,
            (own, others) => own == others,
        };
        same && (self.result.is_wrong() || self.waits == other.waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_that_only_one_of_them_has_is_wrong() {
        let seen = Seen::read;
        let wrong = seen("violated: panic\n");
        let (holds, endless) = (seen("holds (cpp20: 1 execution)\n"), seen("violated: livelock\n"));
        let unsure = seen("inconclusive: no violation, but the time was up (cpp20: 9 executions)\n");
        assert_eq!(compare(&holds, &wrong), Outcome::FalseHolds);
        assert_eq!(compare(&wrong, &holds), Outcome::FalseAlarm);
        assert_eq!(compare(&wrong, &unsure), Outcome::TooLarge);
        assert_eq!(compare(&wrong, &wrong), Outcome::Same);
        assert_eq!(compare(&endless, &holds), Outcome::Same);
        assert_eq!(compare(&endless, &wrong), Outcome::Hidden);
        assert_eq!(Waits::of(&endless, &holds), Waits::OnlyProgram);
    }

    #[test]
    fn reports_of_c_programs_are_counted() {
        let said = "error: livelock\n  x\nerror: failed assertion\nviolated: livelock, and 1 more (cpp20: 2 executions)";
        let seen = Seen::read(said);
        assert!(seen.endless && seen.faults.contains("failed assertion") && seen.faults.len() == 1);
    }
}
