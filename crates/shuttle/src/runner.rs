//! The runner: a scheduler, settings, and a test.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};

use unpick::report::TextOptions;
use unpick::stand_in::Note;
use unpick::trace::Finding;
use unpick::{Check, Error, Reason, Timeouts, Verdict, stand_in};
use unpick_core::plan::Single;

use crate::config::{Config, FailurePersistence, MaxSteps};
use crate::context::{self, Rules};
use crate::scheduler::{Native, NativeStrategy, PctScheduler, Scheduler, Search, Task};
use crate::strategy::{Answer, Asking, Oracle, Question};

/// The least that a stack has: reports and destructors need more than Shuttle's default.
const LEAST_STACK: usize = 256 * 1024;

/// Runs a test under a scheduler.
pub struct Runner<S: ?Sized + Scheduler> {
    config: Config,
    scheduler: Box<S>,
}

impl<S: ?Sized + Scheduler> fmt::Debug for Runner<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").field("config", &self.config).finish_non_exhaustive()
    }
}

impl<S: Scheduler + 'static> Runner<S> {
    /// A runner.
    pub fn new(scheduler: S, config: Config) -> Runner<S> {
        Runner { config, scheduler: Box::new(scheduler) }
    }

    /// Runs the test, and returns how many executions there were.
    ///
    /// # Panics
    ///
    /// With a report, when the test fails.
    #[track_caller]
    pub fn run<F>(self, f: F) -> usize
    where
        F: Fn() + Send + Sync + 'static,
    {
        let Runner { config, scheduler } = self;
        let place = Location::caller();
        let begin = || Note::begin(place);
        match scheduler.native() {
            Some(Native::Replay { token }) => run_replay(&config, &token, begin, f),
            Some(Native::Strategy(strategy)) => run_strategy(&config, *scheduler, strategy, begin, f),
            None => run_asking(&config, *scheduler, begin, f),
        }
    }
}

/// The settings as unpick has them.
fn check(config: &Config) -> Check {
    let model = if config.weak_memory { "cpp20" } else { "sc" };
    let check = Check::new()
        .model(model)
        .stack_size(config.stack_size.max(LEAST_STACK))
        .timeouts(Timeouts::Never)
        // Memory is the system's, as with Shuttle: what a test collects over many executions may be made inside.
        .arenas(false)
        .leaks(false)
        .allow_vacuous(true);
    let check = config.max_time.into_iter().fold(check, Check::time_limit);
    match config.max_steps {
        MaxSteps::None => check.max_events(usize::MAX),
        MaxSteps::FailAfter(steps) => stand_in::ending_at_cut(check.max_events(steps)),
        MaxSteps::ContinueAfter(steps) => check.max_events(steps),
    }
}

fn program<F: Fn()>(f: F, rules: Rules, unseen: &Arc<AtomicBool>) -> impl Fn() + use<F> {
    let unseen = Arc::clone(unseen);
    move || {
        context::begin(rules, Arc::clone(&unseen));
        context::step();
        f();
    }
}

/// Runs a test by a strategy of unpick's, in place of a scheduler that has its name.
fn run_strategy<S, F>(
    config: &Config,
    scheduler: S,
    strategy: NativeStrategy,
    begin: impl FnOnce() -> Note,
    f: F,
) -> usize
where
    S: Scheduler,
    F: Fn() + Send + Sync + 'static,
{
    let NativeStrategy { search, seed, executions, randomness } = strategy;
    if executions == Some(0) {
        return 0;
    }
    let check = check(config).seed(seed);
    let draws = matches!(search, Search::Drawn(_));
    let name = match &search {
        Search::Drawn(name) => name,
        Search::Every if config.runs_every_order() => return run_asking(config, scheduler, begin, f),
        Search::Every => "optimal",
    };
    let check =
        executions.into_iter().fold(check.strategy(name), |check, most| check.max_executions(most as u64));
    let f = Arc::new(f);
    let theirs = Arc::clone(&f);
    let unseen = Arc::new(AtomicBool::new(false));
    let note = begin();
    let verdict = check.run_unnoted(program(move || theirs(), Rules { draws, randomness }, &unseen));
    let again = match &verdict {
        // The search did not see all that threads share: it may have missed something, or followed an order of steps
        // that cannot be.
        Ok(_) if unseen.load(Relaxed) && !draws => true,
        // Threads share something that is not of this crate, such as the futures of another. Then only
        // orders of steps tell executions apart.
        Err(error) if error.is_lost() => !draws,
        // A loop that yields: only the scheduler itself lets others go first then.
        Ok(Verdict::Inconclusive(Reason::Events(_), _)) => {
            name.starts_with(PctScheduler::STRATEGY) && matches!(config.max_steps, MaxSteps::FailAfter(_))
        }
        _ => false,
    };
    if again {
        return run_asking(config, scheduler, || note, move || f());
    }
    note.end(&verdict);
    let verdict = conclude(config, verdict);
    let stats = verdict.stats();
    // What a search gives up on the way is no execution; what a sampler does is one that it has drawn.
    let blocked = if draws { stats.blocked } else { 0 };
    (stats.executions + blocked) as usize
}

/// Runs one execution, by unpick's schedule of it.
fn run_replay<F>(config: &Config, token: &str, begin: impl FnOnce() -> Note, f: F) -> usize
where
    F: Fn() + Send + Sync + 'static,
{
    let f = Arc::new(f);
    let replay = |draws| {
        let f = Arc::clone(&f);
        let rules = Rules { draws, randomness: true };
        stand_in::replaying(check(config), token).run_unnoted(program(move || f(), rules, &Arc::default()))
    };
    let note = begin();
    // The schedule does not say who found it: one that draws random numbers, or one that does not.
    let verdict = match replay(true) {
        Err(error) if !stand_in::is_mended(&error) => replay(false).or(Err(error)),
        verdict => verdict,
    };
    note.end(&verdict);
    if !matches!(&verdict, Err(error) if stand_in::is_mended(error)) {
        conclude(config, verdict);
    }
    1
}

/// Runs a test by asking a scheduler.
fn run_asking<S, F>(config: &Config, mut scheduler: S, begin: impl FnOnce() -> Note, f: F) -> usize
where
    S: Scheduler,
    F: Fn() + Send + Sync + 'static,
{
    if scheduler.new_execution().is_none() {
        return 0;
    }
    let note = begin();
    let check = check(config).model("sc").strategy("random");
    let most = match config.max_steps {
        MaxSteps::None => usize::MAX,
        MaxSteps::FailAfter(steps) | MaxSteps::ContinueAfter(steps) => steps,
    };
    let run = move |oracle: Oracle| {
        let oracle = Arc::new(Mutex::new(oracle));
        let begin = move || {
            stand_in::execution("sc", Box::new(Asking::new(Arc::clone(&oracle))), most)
                .expect("there is a model of sequential consistency")
        };
        stand_in::run_plan(
            &check,
            Box::new(Single::new(begin)),
            program(f, Rules { draws: true, randomness: true }, &Arc::default()),
        )
    };
    let (verdict, executions, panicked) = match scheduler.sendable() {
        Some(scheduler) => {
            let asked = Arc::new(Mutex::new(Asked::new(scheduler)));
            let theirs = Arc::clone(&asked);
            let verdict = run(Oracle::new(move |question| {
                Some(theirs.lock().unwrap_or_else(PoisonError::into_inner).answer(&question))
            }));
            let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
            (verdict, asked.executions, asked.panicked.take())
        }
        None => {
            let mut asked = Asked::new(scheduler);
            let ((ask, questions), (answer, answers)) = (channel(), channel());
            let oracle = Oracle::new(move |question| {
                ask.send(question).ok()?;
                answers.recv().ok()
            });
            let worker = std::thread::spawn(move || run(oracle));
            while let Ok(question) = questions.recv() {
                // The strategy waits for it, unless the check is over.
                let _ = answer.send(asked.answer(&question));
            }
            let Asked { scheduler, executions, panicked } = asked;
            drop(scheduler);
            (worker.join().unwrap_or_else(|payload| resume_unwind(payload)), executions, panicked)
        }
    };
    if let Some(payload) = panicked {
        resume_unwind(payload);
    }
    note.end(&verdict);
    conclude(config, verdict);
    executions
}

/// A scheduler that is asked.
struct Asked<S> {
    scheduler: S,
    /// Executions that it has begun.
    executions: usize,
    /// What it has panicked with.
    panicked: Option<Box<dyn Any + Send>>,
}

impl<S: Scheduler> Asked<S> {
    /// A scheduler that has begun its first execution.
    fn new(scheduler: S) -> Asked<S> {
        Asked { scheduler, executions: 1, panicked: None }
    }

    /// Asks the scheduler; one that has panicked ends the check.
    fn answer(&mut self, question: &Question) -> Answer {
        if self.panicked.is_some() {
            return nothing(question);
        }
        // It may be asked in a thread under test, and is no part of the engine.
        let ask = AssertUnwindSafe(|| put(&mut self.scheduler, question));
        let given = unpick::outside(|| catch_unwind(ask));
        let given = given.unwrap_or_else(|payload| {
            self.panicked = Some(payload);
            nothing(question)
        });
        self.executions += usize::from(matches!(given, Answer::Another(true)));
        given
    }
}

/// Asks the scheduler.
fn put(scheduler: &mut impl Scheduler, question: &Question) -> Answer {
    match question {
        Question::Another => Answer::Another(scheduler.new_execution().is_some()),
        Question::Next { tasks, current, yields } => {
            let tasks: Vec<&Task> = tasks.iter().collect();
            Answer::Next(scheduler.next_task(&tasks, *current, *yields))
        }
        Question::Number => Answer::Number(scheduler.next_u64()),
    }
}

/// What ends the check.
fn nothing(question: &Question) -> Answer {
    match question {
        Question::Another => Answer::Another(false),
        Question::Next { .. } => Answer::Next(None),
        Question::Number => Answer::Number(0),
    }
}

thread_local! {
    /// The finding that the last test of this OS thread failed with, for [`crate::annotate_replay`].
    static FINDING: RefCell<Option<Finding>> = const { RefCell::new(None) };
}

/// What the last test of this OS thread failed with.
#[cfg_attr(not(feature = "annotation"), expect(dead_code, reason = "annotations are a feature"))]
pub(crate) fn last_finding() -> Option<Finding> {
    FINDING.take()
}

/// Panics if the test failed.
fn conclude(config: &Config, verdict: Result<Verdict, Error>) -> Verdict {
    let verdict = match verdict {
        Ok(verdict) => verdict,
        Err(error) => panic!("unpick could not check the program: {error}"),
    };
    if let Some(finding) = verdict.violation() {
        let message = message(config, finding);
        FINDING.set(Some(finding.clone()));
        panic!("{message}");
    }
    if let (Verdict::Inconclusive(Reason::Events(place), _), MaxSteps::FailAfter(steps)) =
        (&verdict, config.max_steps)
    {
        panic!(
            "exceeded max_steps bound {steps}. this might be caused by an unfair schedule (e.g., a spin loop)? it was \
             at {place}"
        );
    }
    verdict
}

/// What a failing test says: what is wrong, the schedule, and the report.
fn message(config: &Config, finding: &Finding) -> String {
    let wrong = finding.message.join("\n");
    let wrong = match finding.title.as_str() {
        "deadlock" => {
            let held = held(finding);
            let what = held.unwrap_or_else(|| format!("blocked tasks: [{}]\n", blocked(finding)));
            format!("deadlock! {what}{wrong}")
        }
        _ => wrong,
    };
    let options = TextOptions::default();
    let report = unpick::report::text(finding, &options);
    let token = schedule(finding);
    let schedule = match &config.failure_persistence {
        FailurePersistence::None => String::new(),
        FailurePersistence::Print => print(&token),
        FailurePersistence::File(directory) => match save(&token, directory.as_deref()) {
            Ok(path) => format!(
                "failing schedule persisted to file: {}\npass that path to `shuttle::replay_from_file` to replay the \
                 failure\n",
                path.display()
            ),
            Err(error) => format!("the schedule could not be saved ({error}):\n{}", print(&token)),
        },
    };
    format!("{wrong}\n\n{schedule}\n{report}")
}

/// The names of the threads that wait, which are told a line each.
fn blocked(finding: &Finding) -> String {
    let names = finding.message.iter().filter_map(|line| line.split_once(" waits "));
    names.map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

/// Which kind of lock a thread wants that has it already, if one does.
fn held(finding: &Finding) -> Option<String> {
    let lock = finding.message.iter().find_map(|line| {
        let name = line.split_once(" for `")?.1.split_once("`, held by itself")?.0;
        finding.trace.objects.iter().find(|object| object.name == name)
    })?;
    Some(format!("a thread tried to acquire a {} it already holds: ", lock.kind))
}

fn print(token: &str) -> String {
    format!(
        "failing schedule:\n\"\n{token}\n\"\npass that string to `shuttle::replay` to replay the failure\n"
    )
}

/// The schedule itself, also where a finding only has the file that holds it.
fn schedule(finding: &Finding) -> String {
    let text = if finding.token.contains(['/', '\\', '.']) {
        std::fs::read_to_string(&finding.token).ok()
    } else {
        None
    };
    text.unwrap_or_else(|| finding.token.clone()).trim().to_string()
}

/// Saves a schedule in a file that was not there before.
fn save(token: &str, directory: Option<&Path>) -> std::io::Result<PathBuf> {
    let directory = directory.map_or_else(std::env::current_dir, |directory| Ok(directory.to_path_buf()))?;
    let mut number = 0;
    loop {
        let path = directory.join(format!("schedule{number:03}.txt"));
        match std::fs::File::create_new(&path) {
            Ok(mut file) => {
                file.write_all(token.as_bytes())?;
                return path.canonicalize();
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}
