//! Checking a closure in all its executions, as in `loom::model`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use unpick::{Check, Error, Reason, Verdict};
use unpick_runtime::{Program, ops};

use crate::settings;

/// Bytes of stack for each thread.
const STACK_SIZE: usize = 2 << 20;

/// Events of an execution at most, unless more branches are allowed.
const MAX_EVENTS: usize = 10_000;

/// Settings of a model.
///
/// [`new`](Builder::new) takes them from the environment. The `UNPICK_` variables, which the guide of
/// unpick lists, override what is set here.
#[derive(Debug)]
#[non_exhaustive]
pub struct Builder {
    /// With loom, threads of one execution at most. Here there is no limit, and it is not looked at.
    pub max_threads: usize,

    /// Events of one execution at most (`LOOM_MAX_BRANCHES`). Longer ones fail the test. A number of 1,000,
    /// which is loom's default, or more stands for 10,000 if it is less than that.
    pub max_branches: usize,

    /// Executions at most (`LOOM_MAX_PERMUTATIONS`). The test passes when they are used up.
    pub max_permutations: Option<usize>,

    /// Time at most (`LOOM_MAX_DURATION`, in seconds). The test passes when it is used up.
    pub max_duration: Option<Duration>,

    /// Preemptions of one execution at most (`LOOM_MAX_PREEMPTIONS`): how often a thread is stopped that
    /// could go on. Executions with more are left out, and the test passes all the same.
    pub preemption_bound: Option<usize>,

    /// Where the schedule of an execution goes that breaks a property (`LOOM_CHECKPOINT_FILE`). If the file
    /// is there, its execution is run again, and no other.
    pub checkpoint_file: Option<PathBuf>,

    /// With loom, how often a checkpoint is written (`LOOM_CHECKPOINT_INTERVAL`). Here that is done when an
    /// execution breaks a property, and this is not looked at.
    pub checkpoint_interval: usize,

    /// With loom, whether nothing is explored before a call of [`explore`](crate::explore). Here all is
    /// explored, and it is not looked at.
    pub expect_explicit_explore: bool,

    /// With loom, whether messages say where something happened (`LOOM_LOCATION`). Here they always do.
    pub location: bool,

    /// Whether the verdict is printed also when the model is fine (`LOOM_LOG`).
    pub log: bool,
}

impl Builder {
    /// The settings of the environment.
    ///
    /// # Panics
    ///
    /// When a variable has a value that is not understood.
    #[track_caller]
    pub fn new() -> Builder {
        match settings::read(|name| std::env::var(name).ok()) {
            Ok(builder) => builder,
            Err(problem) => panic!("{problem}"),
        }
    }

    /// Sets [`checkpoint_file`](Builder#structfield.checkpoint_file).
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Builder {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Checks a closure: runs it once for every execution that the memory model allows.
    ///
    /// # Panics
    ///
    /// With a report when an execution breaks a property; with a reason when the closure cannot be checked,
    /// and when executions were too long.
    #[track_caller]
    pub fn check<F>(&self, f: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        let arenas = !holds_pointers(&f);
        self.check_program(&(Arc::new(f) as Program), arenas);
    }

    /// As [`check`](Builder::check); what is generic is compiled once for each closure, and stays small.
    #[track_caller]
    fn check_program(&self, program: &Program, arenas: bool) {
        let check = self.settings().arenas(arenas);
        if let Some(file) = self.checkpoint_file.as_deref().filter(|file| file.exists()) {
            let program = Arc::clone(program);
            return repeat(&check, file, move || program());
        }
        // Threads may share what is not seen here, such as the count of an `Arc` of std. Executions in which effects take
        // place in order, as they do with loom, can be repeated step by step.
        let in_order = self.preemption_bound.is_none().then(|| check.clone().strategy("in-order"));
        let (verdict, was_lost) = check.run_or_end(program, in_order.as_ref());
        if let (Some(file), Ok(Verdict::Violated(violated))) = (&self.checkpoint_file, &verdict) {
            write(file, &violated.finding.token);
        }
        if let (true, Ok(verdict)) = (self.log, &verdict) {
            print(verdict);
        }
        match &verdict {
            Ok(Verdict::Inconclusive(reason, _)) if self.allows(reason, was_lost) => {}
            _ => check.conclude(verdict),
        }
    }

    fn settings(&self) -> Check {
        let enough = if self.max_branches >= settings::MAX_BRANCHES { MAX_EVENTS } else { 0 };
        let mut check = Check::new()
            .strategy("optimal")
            .stack_size(STACK_SIZE)
            .only_owned_leaks(true)
            .allow_vacuous(true)
            .writers_go_first(false);
        check = check.max_events(self.max_branches.max(enough));
        if let Some(most) = self.max_permutations {
            check = check.max_executions(most as u64);
        }
        if let Some(most) = self.max_duration {
            check = check.time_limit(most);
        }
        if let Some(most) = self.preemption_bound {
            check = check.strategy("in-order").preemption_bound(u32::try_from(most).unwrap_or(u32::MAX));
        }
        check
    }

    /// Whether a model passes in which executions were left out, since the settings ask for that, or only those in which
    /// effects take place in order could be run.
    fn allows(&self, reason: &Reason, in_order: bool) -> bool {
        match reason {
            Reason::Preemptions(_) => self.preemption_bound.is_some() || in_order,
            Reason::Executions => self.max_permutations.is_some(),
            Reason::Time => self.max_duration.is_some(),
            _ => false,
        }
    }
}

impl Default for Builder {
    #[track_caller]
    fn default() -> Builder {
        Builder::new()
    }
}

/// Whether a closure has captured something that looks like an address of memory that is not static. Then it may put what it allocates
/// into memory that outlives the execution, such as a list of results.
fn holds_pointers<F>(f: &F) -> bool {
    // SAFETY: whole words of the closure.
    align_of::<F>() >= align_of::<usize>()
        && unsafe { has_pointer((&raw const *f).cast(), size_of::<F>() / size_of::<usize>()) }
}

/// Whether one of some words looks like such an address.
///
/// # Safety
///
/// They must be in memory that can be read; they may be padding, which has some value.
unsafe fn has_pointer(words: *const usize, count: usize) -> bool {
    /// There is no memory below this address.
    const FIRST_ADDRESS: usize = 1 << 20;
    let is_pointer = |word: usize| word >= FIRST_ADDRESS && !unpick_runtime::is_static(word);
    // SAFETY: as the caller promises.
    (0..count).any(|index| is_pointer(unsafe { words.add(index).read_volatile() }))
}

/// Runs the execution of a checkpoint.
#[track_caller]
fn repeat(check: &Check, file: &Path, program: impl Fn() + Send + Sync + 'static) {
    let refuse = |problem: &dyn std::fmt::Display| -> ! {
        panic!(
            "the checkpoint `{}` cannot be used: {problem}; remove the file, and run the test again",
            file.display()
        )
    };
    let token = std::fs::read_to_string(file).unwrap_or_else(|error| refuse(&error));
    if token.trim_start().starts_with('{') {
        refuse(&"it was written by another tool, such as loom itself");
    }
    let replay = |name: &str| (name == "UNPICK_REPLAY").then(|| token.clone());
    let verdict = check.clone().with(replay).and_then(|check| check.run(program));
    match verdict {
        Err(error @ Error::Token { .. }) => refuse(&error),
        verdict => check.conclude(verdict),
    }
}

#[track_caller]
fn write(file: &Path, token: &str) {
    if let Err(error) = std::fs::write(file, token) {
        panic!("the checkpoint `{}` could not be written: {error}; it is\n{token}", file.display());
    }
}

/// Prints a verdict where a test harness captures it.
#[allow(clippy::print_stdout, reason = "the user asks for it with a setting")]
fn print(verdict: &Verdict) {
    println!("{verdict}");
}

/// Checks a closure with the settings of the environment: runs it once for every execution that the memory
/// model allows.
///
/// # Panics
///
/// As [`Builder::check`] does.
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}

/// Makes sure that the caller is a thread of a model.
///
/// # Panics
///
/// When it is not.
#[track_caller]
pub(crate) fn assert_inside() {
    assert!(
        ops::in_check(),
        "this is possible inside a model only: call it from the closure of `loom::model`"
    );
}
