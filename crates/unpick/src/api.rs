//! The calls that make a check.

use std::io::Write;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use unpick_check::meter::{self, Meter};
use unpick_check::{
    Conclusion, Config, Detached, Error, OnInconclusive, Reason, Summary, Timeouts, Vacuous, Verdict,
    Violated, registry,
};
use unpick_core::op::Site;
use unpick_core::plan::{Ending, Plan};
use unpick_core::schedule::Knowledge;
use unpick_core::trace::Finding;
use unpick_core::violation::{Kind, Violation};
use unpick_driver::explore;
use unpick_driver::search::LoopLimits;
use unpick_report::TextOptions;
use unpick_runtime::worker::{Explored, Task};
use unpick_runtime::{Limits, Program, interrupt, ops, site, worker};

use crate::files;
use crate::learning::{self, Lesson};
use crate::replay;
use crate::reporting;

/// Checks a program: runs the closure once for every execution that the memory model allows.
///
/// This is [`Check::new`]`().run(f)`, for use in a test: it returns when the program holds.
///
/// # Panics
///
/// With a report when an execution breaks a property; with a reason when the check could not be
/// carried out; and when the verdict is inconclusive, unless the environment says
/// `UNPICK_INCONCLUSIVE=pass`.
#[track_caller]
pub fn check<F: Fn() + Send + Sync + 'static>(f: F) {
    Check::new().check(f);
}

/// The settings of a check.
///
/// ```
/// use std::time::Duration;
/// use unpick::{Check, Verdict};
///
/// let verdict = Check::new().model("sc").time_limit(Duration::from_secs(5)).run(|| {})?;
/// assert!(verdict.holds());
/// # Ok::<(), unpick::Error>(())
/// ```
///
/// The environment overrides what is set here: see the `UNPICK_` variables in the guide.
#[derive(Clone, Debug, Default)]
#[must_use = "settings do nothing until `run` or `check` is called"]
pub struct Check {
    pub(crate) config: Config,
}

impl Check {
    /// The default settings: C++20 memory, and every execution if that fits a minute.
    pub fn new() -> Check {
        Check::default()
    }

    /// The memory model: `cpp20`, `rc11`, `sc`, `tso` or `ra`.
    pub fn model(mut self, name: &str) -> Check {
        self.config.model = name.to_string();
        self
    }

    /// How to search: `auto` (the default) decides by itself; `optimal` runs every execution; `in-order` (or `in-order:2`) runs
    /// those with few preemptions; `pct` (or `pct:3`) and `random` draw executions at random, until they find a violation or a limit
    /// is reached. There are more for research, such as `cb-dpor`, which runs sequentially consistent executions with few
    /// preemptions. `unpick strategies` lists them, and `docs/strategies.md` says what each covers.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use unpick::sync::atomic::{AtomicU32, Ordering::SeqCst};
    /// use unpick::{Check, Reason, Verdict, thread};
    ///
    /// fn lost_update() {
    ///     let number = Arc::new(AtomicU32::new(0));
    ///     let theirs = Arc::clone(&number);
    ///     let other = thread::spawn(move || theirs.store(theirs.load(SeqCst) + 1, SeqCst));
    ///     number.store(number.load(SeqCst) + 1, SeqCst);
    ///     other.join().unwrap();
    ///     assert_eq!(number.load(SeqCst), 2);
    /// }
    /// let verdict = Check::new().strategy("cb-dpor:0").run(lost_update)?;
    /// assert!(matches!(verdict, Verdict::Inconclusive(Reason::Preemptions(0), _)));
    /// assert!(Check::new().strategy("cb-dpor:1").run(lost_update)?.violation().is_some());
    /// # Ok::<(), unpick::Error>(())
    /// ```
    pub fn strategy(mut self, name: &str) -> Check {
        self.config.strategy = name.to_string();
        self
    }

    /// Where the random numbers of the strategy start: same program, strategy and seed, same executions.
    /// 0 unless set.
    pub fn seed(mut self, seed: u64) -> Check {
        self.config.seed = seed;
        self
    }

    /// Preemptions of one execution at most: how often a thread is stopped that could go on. Most bugs
    /// need two or fewer, and there are far fewer executions with so few.
    ///
    /// If executions were left out, the verdict is inconclusive, and its [`Summary::coverage`] says
    /// what was explored. What the bound means exactly is in `docs/strategies.md`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use unpick::sync::atomic::{AtomicU32, Ordering};
    /// use unpick::{Check, thread};
    ///
    /// let verdict = Check::new().preemption_bound(0).run(|| {
    ///     let [x, y] = [0, 0].map(|number| Arc::new(AtomicU32::new(number)));
    ///     let (theirs, ours) = (Arc::clone(&x), Arc::clone(&y));
    ///     let other = thread::spawn(move || ours.store(theirs.load(Ordering::Acquire), Ordering::Release));
    ///     x.store(1, Ordering::Release);
    ///     y.load(Ordering::Acquire);
    ///     other.join().unwrap();
    /// })?;
    /// let coverage = verdict.summary().coverage.expect("the search came to its end");
    /// assert_eq!((coverage.preemptions, coverage.is_total()), (0, verdict.holds()));
    /// # Ok::<(), unpick::Error>(())
    /// ```
    pub fn preemption_bound(mut self, preemptions: u32) -> Check {
        self.config.preemption_bound = Some(preemptions);
        self
    }

    /// Events of one execution at most; longer ones are cut, and the verdict is inconclusive. 10,000
    /// unless set, and 100 million for strategies that draw executions at random.
    pub fn max_events(mut self, events: usize) -> Check {
        self.config.max_events = Some(events);
        self
    }

    /// Executions at most.
    pub fn max_executions(mut self, executions: u64) -> Check {
        self.config.max_executions = Some(executions);
        self
    }

    /// Time at most: 60 seconds for the strategy `auto`, else no limit, unless set.
    pub fn time_limit(mut self, limit: Duration) -> Check {
        self.config.time_limit = Some(limit);
        self
    }

    /// Bytes of stack for each thread, from 4 KiB to 1 GiB; 256 KiB unless set.
    pub fn stack_size(mut self, bytes: usize) -> Check {
        self.config.stack_size = bytes;
        self
    }

    /// Lets `compare_exchange_weak` fail without a reason, which multiplies the executions.
    pub fn spurious_failures(mut self, on: bool) -> Check {
        self.config.spurious_failures = on;
        self
    }

    /// Lets a thread that waits for a [`Condvar`](crate::sync::Condvar) or is
    /// [parked](crate::thread::park) wake up without a reason, once in each execution, which
    /// multiplies the executions.
    pub fn spurious_wakeups(mut self, on: bool) -> Check {
        self.config.spurious_wakeups = on;
        self
    }

    /// Whether loops that only wait are recognised, and take part in the search with one round; on unless set.
    ///
    /// Turn it off to see what a check says without that: a loop then goes on, in every possible way, until
    /// it is cut at [`max_rounds`](Check::max_rounds) or at [`max_events`](Check::max_events). If one was cut the verdict
    /// is inconclusive, and no livelock is found.
    pub fn loops(mut self, on: bool) -> Check {
        self.config.loops = on;
        self
    }

    /// How often a loop may read the same write at the same place before it is cut; a loop that
    /// comes back to the same state is recognised without that. If loops were cut the verdict is
    /// inconclusive, and names them. Where memory is the system's, what a loop counts there is not
    /// seen: a loop is taken to wait if it would do the same for so many rounds.
    pub fn max_rounds(mut self, rounds: usize) -> Check {
        self.config.max_rounds = rounds;
        self
    }

    /// How long a thread may do nothing visible before the check gives up on it: a millisecond or more; 20 s unless set.
    pub fn hang_limit(mut self, limit: Duration) -> Check {
        self.config.hang_limit = limit;
        self
    }

    /// Whether memory that is left behind when all threads have ended is a violation; on unless
    /// set. What can be reached from static memory is not left behind, nor is what was allocated
    /// [`outside`](crate::outside).
    ///
    /// ```
    /// let forget = || std::mem::forget(std::hint::black_box(Box::new(1)));
    /// let verdict = unpick::Check::new().run(forget).unwrap();
    /// assert_eq!(verdict.violation().unwrap().title, "leak");
    /// assert!(unpick::Check::new().leaks(false).run(forget).unwrap().holds());
    /// ```
    pub fn leaks(mut self, on: bool) -> Check {
        self.config.leaks = on;
        self
    }

    /// What [`check`](Check::check) does when the verdict is inconclusive.
    pub fn on_inconclusive(mut self, what: OnInconclusive) -> Check {
        self.config.on_inconclusive = what;
        self
    }

    /// Lets a check pass that can show nothing; off unless set. Such a check is a mistake in most cases, so it fails, with the
    /// verdict [`Reason::Vacuous`](crate::Reason::Vacuous):
    ///
    /// - there are several threads, and no object was used by two of them: perhaps the atomics are those of `std`;
    /// - a thread was started with `std::thread`: what it does is not seen;
    /// - [`assume`](crate::assume) has discarded every execution.
    ///
    /// A program with a single thread is none of these: the verdict says so, and the check passes.
    ///
    /// ```
    /// use unpick::{Check, Reason, Vacuous, Verdict, thread};
    ///
    /// let alone = || assert_eq!(thread::spawn(|| 1 + 1).join().unwrap(), 2);
    /// let verdict = Check::new().run(alone)?;
    /// assert!(matches!(verdict, Verdict::Inconclusive(Reason::Vacuous(Vacuous::NothingShared), _)));
    /// assert!(Check::new().allow_vacuous(true).run(alone)?.holds());
    /// # Ok::<(), unpick::Error>(())
    /// ```
    pub fn allow_vacuous(mut self, on: bool) -> Check {
        self.config.allows_vacuous = on;
        self
    }

    /// Goes on after a violation, until so many were found that differ in their kind or in their
    /// places; 1 unless set. [`Verdict::violations`] has them all, and each has a report and a token.
    ///
    /// An execution ends where it breaks a property, and what would have come after that is not
    /// explored: mending one violation may show another that was hidden behind it.
    ///
    /// ```
    /// use unpick::Check;
    ///
    /// let verdict = Check::new().keep_going(10).run(|| match unpick::choose(4) {
    ///     0 => panic!("zero"),
    ///     1 => panic!("one"),
    ///     _ => {}
    /// })?;
    /// assert_eq!(verdict.violations().count(), 2);
    /// # Ok::<(), unpick::Error>(())
    /// ```
    pub fn keep_going(mut self, violations: usize) -> Check {
        self.config.keep_going = violations;
        self
    }

    /// What becomes of threads that nobody joins.
    ///
    /// All threads must end, unless this is [`Detached::Abandoned`]: then an execution in which the
    /// closure has returned, and the threads that are left wait for ever, is a good one. They run as
    /// far as they can all the same, before and after the closure returns, and what they break is a
    /// violation.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use unpick::sync::atomic::{AtomicU32, Ordering};
    /// use unpick::{Check, Detached, thread};
    ///
    /// Check::new().detached(Detached::Abandoned).check(|| {
    ///     let jobs = Arc::new(AtomicU32::new(0));
    ///     let theirs = Arc::clone(&jobs);
    ///     thread::spawn(move || loop {
    ///         while theirs.load(Ordering::Acquire) == 0 {}
    ///         theirs.fetch_sub(1, Ordering::AcqRel);
    ///     });
    ///     jobs.fetch_add(1, Ordering::AcqRel);
    /// });
    /// ```
    pub fn detached(mut self, what: Detached) -> Check {
        self.config.detached = what;
        self
    }

    /// When waits with a limit on time give up: [`park_timeout`](crate::thread::park_timeout),
    /// [`wait_timeout`](crate::sync::Condvar::wait_timeout) and
    /// [`recv_timeout`](crate::sync::mpsc::Receiver::recv_timeout).
    ///
    /// ```
    /// use std::time::Duration;
    /// use unpick::sync::mpsc::channel;
    /// use unpick::{Check, Timeouts, thread};
    ///
    /// let program = || {
    ///     let (sender, receiver) = channel();
    ///     let other = thread::spawn(move || sender.send(1));
    ///     assert!(receiver.recv_timeout(Duration::from_secs(1)).is_ok());
    ///     other.join().unwrap().unwrap();
    /// };
    /// assert!(Check::new().run(program)?.violation().is_some());
    /// assert!(Check::new().timeouts(Timeouts::Last).run(program)?.holds());
    /// # Ok::<(), unpick::Error>(())
    /// ```
    pub fn timeouts(mut self, when: Timeouts) -> Check {
        self.config.timeouts = when;
        self
    }

    /// These settings, overridden by the values of variables, as the environment would: `variable` gives
    /// the value of one by its name, if it has one.
    ///
    /// ```
    /// use unpick::Check;
    ///
    /// let check = Check::new().with(|name| (name == "UNPICK_MODEL").then(|| String::from("tso")))?;
    /// assert_eq!(check.run(|| {})?.summary().model, "tso");
    /// # Ok::<(), unpick::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When a variable has a value that is not understood.
    pub fn with(mut self, variable: impl Fn(&str) -> Option<String>) -> Result<Check, Error> {
        self.config = self.config.with_environment(variable)?;
        Ok(self)
    }

    /// Carries out the check.
    ///
    /// # Errors
    ///
    /// When it could not be carried out: a setting is wrong, the program is not deterministic, a
    /// thread hangs outside unpick's control, ...
    ///
    /// # Interrupts
    ///
    /// Ctrl-C (SIGINT) ends all checks of the process: they return what they know so far, which is
    /// [`Reason::Interrupted`](crate::Reason::Interrupted) if no violation was found, and so do all that are started later. A second one
    /// ends the process. While no check runs, and if the program has a handler of its own, the signal does what
    /// it does without unpick.
    #[track_caller]
    pub fn run<F: Fn() + Send + Sync + 'static>(&self, f: F) -> Result<Verdict, Error> {
        self.run_program(&(Arc::new(f) as Program))
    }

    /// As [`run`](Check::run); what is generic is compiled once for each closure, and stays small.
    #[track_caller]
    fn run_program(&self, program: &Program) -> Result<Verdict, Error> {
        files::noted(Location::caller(), || self.carried_out(program))
    }

    pub(crate) fn carried_out(&self, program: &Program) -> Result<Verdict, Error> {
        carry_out(&self.overridden()?, program)
    }

    /// The settings, overridden by the environment.
    fn overridden(&self) -> Result<Config, Error> {
        self.config.clone().with_process_environment()
    }

    /// Carries out the check, and returns when the program holds.
    ///
    /// # Panics
    ///
    /// As [`fn@check`] does.
    ///
    /// # Interrupts
    ///
    /// After Ctrl-C each check that is running says on standard error how far it came. When all have done so the
    /// process ends, with exit code 1 if there was a violation, and else with 3, whatever is to be done about
    /// inconclusive verdicts.
    #[track_caller]
    pub fn check<F: Fn() + Send + Sync + 'static>(&self, f: F) {
        self.check_program(&(Arc::new(f) as Program));
    }

    #[track_caller]
    fn check_program(&self, program: &Program) {
        self.conclude(self.run_or_end(program, None).0);
    }

    /// Carries out the check, for front-ends that look at the verdict before they [conclude](Check::conclude);
    /// after Ctrl-C the process ends, as said at [`check`](Check::check). If the program does not repeat itself and there is
    /// `another` check, that one is carried out instead; returned is also whether it was.
    #[doc(hidden)]
    #[track_caller]
    pub fn run_or_end(&self, program: &Program, another: Option<&Check>) -> (Result<Verdict, Error>, bool) {
        let config = self.overridden();
        // A single execution is not worth a verdict so far.
        let searches = config.as_ref().is_ok_and(|config| config.replay.is_none());
        let listening = searches.then(interrupt::listen);
        if interrupt::requested() {
            drop(listening);
            interrupt::end_process(INCONCLUSIVE);
        }
        let mut lost = false;
        let result = files::noted(Location::caller(), || {
            let result = carry_out(&config?, program);
            lost = result.as_ref().is_err_and(Error::is_lost);
            match another.filter(|_| lost) {
                Some(another) => another.carried_out(program),
                None => result,
            }
        });
        if interrupt::requested() {
            let code = tell_interrupted(&result, Location::caller());
            drop(listening);
            interrupt::end_process(code);
        }
        (result, lost && another.is_some())
    }

    /// Returns if the verdict is good, as [`check`](Check::check) does.
    #[doc(hidden)]
    #[track_caller]
    pub fn conclude(&self, verdict: Result<Verdict, Error>) {
        match verdict {
            Ok(Verdict::Holds(_)) => {}
            Ok(Verdict::Violated(violated)) => panic!("{}", all_reports(&violated)),
            Ok(verdict @ Verdict::Inconclusive(Reason::Vacuous(_), _)) => panic!(
                "unpick can show nothing: {verdict}; {}, or set UNPICK_VACUOUS=1 or `Check::allow_vacuous` to let \
                 such tests pass",
                advice(&verdict)
            ),
            Ok(verdict @ Verdict::Inconclusive(..)) => {
                let what =
                    self.overridden().map_or(self.config.on_inconclusive, |config| config.on_inconclusive);
                assert!(
                    what == OnInconclusive::Pass,
                    "unpick proved nothing: {verdict}; raise the limit, make the test smaller, or set \
                     UNPICK_INCONCLUSIVE=pass to let such tests pass"
                );
            }
            Err(error) => panic!("unpick could not check the program: {error}"),
        }
    }
}

/// Carries out a check with these settings.
fn carry_out(config: &Config, program: &Program) -> Result<Verdict, Error> {
    if ops::in_check() {
        let problem = String::from("a check was started inside another; start it outside the closure");
        return Err(Error::Misuse { problem });
    }
    match &config.replay {
        Some(token) => replay::replay(config, token, program),
        None => learning::explore(config, program),
    }
}

/// What to do about a check that can show nothing.
fn advice(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Inconclusive(Reason::Vacuous(Vacuous::UnseenThread(_)), _) => {
            "start threads with `unpick::thread`"
        }
        Verdict::Inconclusive(Reason::Vacuous(Vacuous::Discarded(_)), _) => {
            "assume something that is true of some executions"
        }
        _ => {
            "let threads share objects of `unpick::sync`, which those of `std::sync` and of other crates are not"
        }
    }
}

/// The exit code of a process whose check found no violation and did not explore everything.
const INCONCLUSIVE: i32 = 3;

/// Says on standard error what came of a check that was interrupted, and returns the exit code that fits. A harness
/// would keep it to itself.
fn tell_interrupted(result: &Result<Verdict, Error>, place: &Location<'_>) -> i32 {
    let name = meter::name().unwrap_or_else(|| place.to_string());
    let (told, code) = match result {
        Ok(Verdict::Violated(violated)) => (all_reports(violated), 1),
        Ok(verdict) => (format!("{verdict:#}"), INCONCLUSIVE),
        Err(error) => (format!("unpick could not check the program: {error}"), INCONCLUSIVE),
    };
    // Nothing can be done about a closed standard error.
    let _ = std::io::stderr().write_all(format!("\nunpick: {name}: {told}\n").as_bytes());
    code
}

/// The reports of all violations, and where they were saved.
fn all_reports(violated: &Violated) -> String {
    let findings: Vec<&Finding> = violated.violations().collect();
    let mut reports = reports(&findings);
    for (report, path) in reports.iter_mut().zip(violated.saved()) {
        let line = path.map_or_else(String::new, |path| format!("json: {}\n", path.display()));
        report.push_str(&line);
    }
    format!("{}\n\n{}", how_many(findings.len()), reports.join("\n"))
}

/// A report of each finding.
pub(crate) fn reports(findings: &[&Finding]) -> Vec<String> {
    let options = TextOptions::of_terminal();
    let numbers = 1..=findings.len();
    let report = |(&finding, number)| unpick_report::numbered(finding, number, findings.len(), &options);
    findings.iter().zip(numbers).map(report).collect()
}

/// The line above the reports.
fn how_many(findings: usize) -> String {
    match findings {
        1 => String::from("unpick found a violation"),
        many => format!("unpick found {many} violations"),
    }
}

/// What the runtime needs of the settings.
pub(crate) fn task(config: &Config, program: &Program, plan: Box<dyn Plan>) -> Task {
    Task {
        plan,
        program: Arc::clone(program),
        limits: Limits {
            interrupts: true,
            stack_size: config.stack_size,
            loops: LoopLimits { recognised: config.loops, rounds: config.max_rounds },
            spurious_wakeups: config.spurious_wakeups,
            leaks: config.leaks,
            timeouts: config.timeouts,
            abandons: config.detached == Detached::Abandoned,
            only_owned_leaks: config.only_owned_leaks,
            arenas: config.arenas,
            unseen_threads: config.allows_vacuous,
            writers_go_first: config.writers_go_first,
        },
        known: Knowledge::default(),
        budget: explore::Limits {
            executions: config.max_executions,
            time: config.time_at_most(),
            violations: config.keep_going,
            ends_at_cut: config.ends_at_cut,
        },
        hang: config.hang_limit,
        model: registry::number_of(&config.model),
        recorder: None,
        observer: None,
    }
}

pub(crate) fn explore(
    config: &Config,
    program: &Program,
    plan: Box<dyn Plan>,
    lesson: &mut Lesson,
) -> Result<Verdict, Error> {
    let _listening = interrupt::listen();
    let mut meter = Meter::new(config);
    let mut task = task(config, program, plan);
    task.known.facts = lesson.known.bits().to_vec();
    let explored = worker::explore(task, &mut |pulse, elapsed| {
        // The worker says how the check stands some time after it was asked.
        if meter.is_near(elapsed) {
            meter.show(pulse.executions(), &pulse.outlook(), elapsed);
        }
    });
    meter.clear();
    let explored = explored?;
    lesson.learn(&explored);
    // What is told names the strategy that was at work in the end.
    let (decides, config) = (config.decides(), &config.named(&explored.outlook));
    let summary = summary(config, &explored, decides);
    if !explored.found.is_empty() {
        return reporting::report_all(config, program, &explored.found, summary, explored.fatal);
    }
    Ok(conclusion(config, &explored, decides).verdict(summary, site::describe))
}

/// What an exploration has come to. `decides`: the plan had several searches, of which this is the last.
fn conclusion<'a>(config: &'a Config, explored: &'a Explored, decides: bool) -> Conclusion<'a> {
    Conclusion {
        config,
        decides,
        ending: &explored.ending,
        stats: &explored.stats,
        cpu: explored.cpu,
        execution: &explored.execution,
        outlook: &explored.outlook,
        cut: explored.cut.map(|point| point.site),
        cut_loops: &explored.cut_loops,
        purpose: &explored.purpose,
    }
}

/// Tells violations the last of which the process cannot survive.
pub(crate) fn end_process(findings: &[&Finding]) -> ! {
    let (title, report) = (how_many(findings.len()), reports(findings).join("\n"));
    let what = match cfg!(panic = "abort") {
        true => "a panic ends a process that is built with `panic = \"abort\"`",
        false => "such a panic ends a Rust process",
    };
    let text = format!("\n{title}\n\n{report}\n{what}, so this one ends here\n");
    // Nothing can be done about a closed standard error.
    let _ = std::io::stderr().write_all(text.as_bytes());
    std::process::exit(101)
}

/// What a verdict rests on; `decides` as above.
pub(crate) fn summary(config: &Config, explored: &Explored, decides: bool) -> Summary {
    let conclusion = conclusion(config, explored, decides);
    let mut assumptions = Vec::new();
    if !config.spurious_failures {
        assumptions.push(String::from("`compare_exchange_weak` fails only for a reason"));
    }
    if explored.waits && !config.spurious_wakeups {
        assumptions.push(String::from("`Condvar::wait` and `park` return only for a reason"));
    }
    assumptions.extend(explored.assumptions.iter().cloned());
    assumptions.extend(explored.lent.assumptions());
    let told = |(what, at): &(&str, Site)| format!("{what}, first at {}", site::describe(*at));
    assumptions.extend(explored.assumed.iter().map(told));
    assumptions.extend(conclusion.traces().and_then(|_| beyond_sc(config, explored)));
    conclusion.summary(assumptions)
}

/// What a strategy that explores sequentially consistent executions only cannot say about a program,
/// if there is something: one with neither weak operations nor races has no other executions.
fn beyond_sc(config: &Config, explored: &Explored) -> Option<String> {
    if explored.execution.model().name() == "sc" {
        return None;
    }
    let races = matches!(&explored.ending, Ending::Violated(Violation { kind: Kind::Race { .. }, .. }));
    let reason = match explored.weak {
        Some(site) => format!("operations weaker than SeqCst, first at {}", site::describe(site)),
        None if races => String::from("a data race"),
        None => return None,
    };
    let Config { strategy, model, .. } = config;
    Some(format!(
        "`{strategy}` explores sequentially consistent executions only, and the program has {reason}: what \
         else `{model}` allows was not explored"
    ))
}
