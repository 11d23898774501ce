//! Runs a check on an OS thread that is not the caller's, and watches over it.
//!
//! The thread that asks only waits: it keeps the limits on time, shows progress, and returns when they are over. A worker that
//! does not stop then is abandoned, and never interrupted, since it may hold a lock that others need.
//!
//! The first execution is thrown away. It runs on the system heap, so that what the standard
//! library builds on first use, and keeps, is born there and not in memory that the next execution
//! takes over.

use std::sync::Arc;
use std::time::{Duration, Instant};

use unpick_core::error::Error;
use unpick_core::execution::{Execution, Outcome};
use unpick_core::graph::Graph;
use unpick_core::mutant;
use unpick_core::op::Site;
use unpick_core::plan::{Ending, Moment, Outlook, Plan, Step, Tally};
use unpick_core::schedule::Knowledge;
use unpick_core::stats::Stats;
use unpick_core::violation::Point;

use crate::facts::Facts;
use crate::fiber::Fiber;
use crate::limits::Limits;
use crate::parked::{Pending, Worker};
use crate::pulse::Pulse;
use crate::record::Recorder;
use crate::session::{self, Program, Session};
use crate::{arena, current, interrupt, panics, signals, site};

/// When to give up.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Executions at most.
    pub executions: Option<u64>,
    /// Time at most.
    pub time: Option<Duration>,
    /// How long a thread may do nothing visible.
    pub hang: Duration,
    /// Whether an interrupt of the process ends it.
    pub interrupts: bool,
}

/// What an exploration leaves behind.
pub struct Explored {
    /// How it ended.
    pub ending: Ending,
    /// Counters, of all searches.
    pub stats: Stats,
    /// CPU time of the worker.
    pub cpu: Duration,
    /// The execution, with the graph it ended on.
    pub execution: Execution,
    /// How the check stood in the end.
    pub outlook: Outlook,
    /// Where executions were cut at the limit on events.
    pub cut: Option<Point>,
    /// Places where loops were cut at the limit on rounds.
    pub cut_loops: Vec<Site>,
    /// Whether threads had memory of their own.
    pub on_arenas: bool,
    /// Whether some of their memory was of the system heap all the same.
    pub spilled: bool,
    /// Whether a thread has waited, without a time limit, for another to wake it.
    pub waits: bool,
    /// What is assumed of loops.
    pub assumption: Option<&'static str>,
    /// Where an operation was weaker than SeqCst, under a strategy over sequentially consistent traces.
    pub weak: Option<Site>,
    /// Whether the process must end after the report: a destructor panicked during a panic.
    pub fatal: bool,
    /// What was recorded, if that was asked for.
    pub recorder: Option<Recorder>,
    /// Types of the objects behind locations, and behind plain cells.
    pub kinds: (Vec<&'static str>, Vec<&'static str>),
    /// What has become known about the program.
    pub facts: Vec<u64>,
    /// What would be known if an execution had not repeated itself.
    pub facts_with_order: Vec<u64>,
}

/// A check to carry out.
pub struct Task {
    /// What is searched, and how.
    pub plan: Box<dyn Plan>,
    /// The program.
    pub program: Program,
    /// Limits of each execution.
    pub limits: Limits,
    /// What is known about the program to begin with.
    pub known: Knowledge,
    /// Limits of the whole.
    pub budget: Budget,
    /// The memory model, as a number in schedules.
    pub model: u8,
    /// Records one execution instead of exploring all.
    pub recorder: Option<Recorder>,
    /// Sees every execution that has ended; the exploration goes on after a violation if it says so.
    pub observer: Option<Observer>,
}

/// Looks at executions that have ended, and what is known by then, and says whether to go on after a
/// violation.
pub type Observer = Box<dyn FnMut(&Graph, &Outcome, &[u64]) -> bool + Send>;

struct State {
    task: Task,
    started: Instant,
    cut: Option<Point>,
    cpu: Duration,
    warm: bool,
    tally: Tally,
}

/// Where a worker stopped.
enum Pause {
    /// The exploration is over.
    Over(Ending),
    /// It must go on in a fresh OS thread.
    Worn,
    /// It cannot go on.
    Failed(Error),
}

/// Carries out a task; calls `watch` now and then while it goes on.
pub fn explore(mut task: Task, watch: &mut dyn FnMut(&Pulse, Duration)) -> Result<Explored, Error> {
    panics::install();
    signals::install();
    let pulse = Arc::new(Pulse::default());
    let (budget, started) = (task.budget, Instant::now());
    if budget.interrupts && interrupt::requested() {
        pulse.stop();
    }
    let execution = task.plan.begin();
    let mut session = Session::new(execution, task.program.clone(), task.limits, pulse.clone());
    session.facts = Facts::new(&task.known.facts);
    session.names.clone_from(&task.known.threads);
    session.model = task.model;
    let mut state =
        State { task, started, cut: None, cpu: Duration::ZERO, warm: false, tally: Tally::default() };
    loop {
        let mutant = mutant::chosen();
        let worker = Worker::take().map_err(|error| Error::Machine {
            problem: format!("no OS thread for the check: {error}; run fewer checks at once"),
        })?;
        let pending = worker.start(move || {
            mutant::choose(mutant);
            let pause = work(&mut session, &mut state);
            (session, state, pause)
        });
        let ((back, kept, pause), reusable) = supervise(&pending, &pulse, budget, started, watch)?;
        (session, state) = (back, kept);
        if reusable && !matches!(pause, Pause::Worn) {
            worker.park();
        }
        match pause {
            Pause::Over(ending) => return Ok(conclude(session, state, ending)),
            Pause::Failed(error) => return Err(error),
            Pause::Worn => {}
        }
    }
}

fn conclude(mut session: Box<Session>, mut state: State, ending: Ending) -> Explored {
    let plan = &mut state.task.plan;
    let stats = plan.counts(&session.execution, state.tally.total(&session.execution));
    let outlook = plan.outlook(&session.execution);
    let kinds = (
        session.known.iter().map(|known| known.kind).collect(),
        session.known_cells.iter().map(|known| known.kind).collect(),
    );
    Explored {
        ending,
        stats,
        outlook,
        cpu: state.cpu,
        cut: state.cut,
        cut_loops: std::mem::take(&mut session.cut_loops),
        on_arenas: session.is_on_arenas(),
        spilled: session.spilled,
        waits: session.waits,
        assumption: session.loops.rounds.assumption(),
        weak: session.weak,
        fatal: session.fatal,
        recorder: session.recorder.take(),
        kinds,
        facts: session.facts.bits().to_vec(),
        facts_with_order: session.facts.with_order(),
        execution: session.restart(plan.begin()),
    }
}

/// Waits for the worker, which began at `started`, and for signs of life. An execution that goes on long after the time is over
/// is given up.
fn supervise<T>(
    pending: &Pending<T>,
    pulse: &Pulse,
    budget: Budget,
    started: Instant,
    watch: &mut dyn FnMut(&Pulse, Duration),
) -> Result<(T, bool), Error> {
    let long_after = budget.time.and_then(|most| started.checked_add(most)?.checked_add(PATIENCE));
    let mut hang = budget.hang;
    let (mut beats, mut since) = (pulse.beats(), Instant::now());
    loop {
        if let Some(result) = pending.wait(Duration::from_millis(200)) {
            return Ok(result);
        }
        watch(pulse, started.elapsed());
        if budget.interrupts && interrupt::requested() {
            pulse.stop();
            hang = hang.min(PATIENCE);
        }
        if long_after.is_some_and(|limit| Instant::now() >= limit) {
            pulse.stop();
        }
        if pulse.beats() != beats {
            (beats, since) = (pulse.beats(), Instant::now());
        } else if since.elapsed() >= hang {
            // Should it come to an operation after all, it is not to go on.
            pulse.stop();
            return Err(Error::Hang {
                thread: site::thread_name(pulse.thread()),
                site: site::describe(pulse.site()),
                seconds: since.elapsed().as_secs(),
            });
        }
    }
}

/// How long a thread that does nothing visible is waited for after an interrupt, and an execution when the time is over.
const PATIENCE: Duration = Duration::from_secs(2);

/// Explores on this OS thread until something stops it.
fn work(session: &mut Box<Session>, state: &mut State) -> Pause {
    let cpu = thread_cpu();
    let guarded = signals::guard_thread(session);
    let pause = work_on(session, state);
    drop(guarded);
    current::reset();
    state.cpu += thread_cpu().saturating_sub(cpu);
    pause
}

/// Makes sure that the buffers of the standard streams are born on the system heap, and so is the
/// one in which a test harness captures output. That one is reached by printing only, and an empty
/// write makes no room in it; a carriage return is the least that shows.
#[allow(clippy::print_stderr, reason = "see above")]
fn open_streams() {
    let _ = (std::io::stdin(), std::io::stdout());
    eprint!("\r");
}

fn work_on(session: &mut Box<Session>, state: &mut State) -> Pause {
    if session.pulse.is_stopped() {
        return Pause::Over(stopped(state));
    }
    if !state.warm {
        state.warm = true;
        if let Some(pause) = warm_up(session, state) {
            return pause;
        }
    }
    let this: *mut Session = &mut **session;
    loop {
        let outcome = session::run(this);
        if session.error.is_some()
            && let Some(error) = session.error.take()
        {
            return Pause::Failed(error);
        }
        if matches!(outcome, Outcome::Again) {
            if std::mem::take(&mut session.renew) {
                start_over(session, state);
            } else {
                session.execution.again();
            }
            if session.pulse.is_stopped() {
                return Pause::Over(stopped(state));
            }
            if session.worn {
                return wear(session);
            }
            continue;
        }
        session.execution.count(&outcome);
        let goes_on = match &mut state.task.observer {
            Some(observer) => observer(session.execution.graph(), &outcome, session.facts.bits()),
            None => false,
        };
        if let Outcome::Cut(point) = outcome {
            state.cut.get_or_insert(point);
            if session.limits.ends_at_cut {
                return Pause::Over(Ending::Exhausted);
            }
        }
        match outcome {
            Outcome::Violated(violation) if !goes_on || session.fatal => {
                return Pause::Over(Ending::Violated(*violation));
            }
            outcome => session.execution.recycle(outcome),
        }
        if state.task.recorder.is_some() || session.recorder.is_some() {
            return Pause::Over(Ending::Exhausted);
        }
        let ended = !session.execution.advance();
        if state.tally.is_review_due(&session.execution, ended)
            && let Some(ending) = review(session, state, ended)
        {
            if matches!(ending, Ending::Exhausted) && lose_patience(session, state) {
                continue;
            }
            return Pause::Over(ending);
        }
        if let Some(most) = state.task.budget.executions
            && state.tally.total(&session.execution).executions() >= most
        {
            return Pause::Over(Ending::Executions);
        }
        if session.pulse.is_stopped() {
            return Pause::Over(stopped(state));
        }
        if session.worn {
            return wear(session);
        }
    }
}

/// Starts over if no execution has come to its end, and the reason may be that threads let each other go on now and then,
/// in vain. Whether it does.
fn lose_patience(session: &mut Session, state: &mut State) -> bool {
    let stats = state.tally.total(&session.execution);
    let whole = state.cut.is_none() && session.cut_loops.is_empty() && !session.execution.samples();
    let none_ends = stats.complete == 0 && stats.blocked > 0 && stats.violated == 0;
    if session.impatient || !whole || !none_ends {
        return false;
    }
    session.impatient = true;
    start_over(session, state);
    true
}

/// Why the worker was asked to stop.
fn stopped(state: &State) -> Ending {
    let interrupted = state.task.budget.interrupts && interrupt::requested();
    let is_late = state.task.budget.time.is_some_and(|most| state.started.elapsed() >= most);
    if is_late && !interrupted { Ending::Time } else { Ending::Interrupted }
}

/// Begins the search again, with what is known now.
fn start_over(session: &mut Session, state: &mut State) {
    if let Some(observer) = &mut state.task.observer {
        observer(session.execution.graph(), &Outcome::Again, session.facts.bits());
    }
    state.tally.renew(&mut *state.task.plan, &mut session.execution);
    session.use_arenas(session.is_on_arenas());
}

/// Asks the plan what comes next.
fn review(session: &mut Session, state: &mut State, ended: bool) -> Option<Ending> {
    let stats = state.tally.total(&session.execution);
    session.pulse.count(stats.executions(), stats.blocked);
    let elapsed = state.started.elapsed();
    let plan = &mut *state.task.plan;
    let step = state.tally.review(plan, &mut session.execution, Moment { elapsed, ended });
    session.pulse.look(|| plan.outlook(&session.execution));
    if step == Step::Switched {
        session.use_arenas(session.is_on_arenas());
    }
    let late = state.task.budget.time.is_some_and(|most| elapsed >= most);
    step.ending().or(late.then_some(Ending::Time))
}

fn wear(session: &mut Session) -> Pause {
    session.worn = false;
    session.fibers.iter_mut().for_each(Fiber::abandon);
    Pause::Worn
}

/// The execution that is thrown away.
fn warm_up(session: &mut Box<Session>, state: &mut State) -> Option<Pause> {
    // Asked before the threads take all arenas there are.
    session.has_allocator = state.task.limits.arenas && arenas_work();
    session.use_arenas(false);
    if !session.has_allocator {
        // What is born in the execution stays where it is.
        session.keeping = Some(arena::Arena::delaying());
        session.recorder = state.task.recorder.take();
        return None;
    }
    open_streams();
    (session.keeping, session.is_trial) = (Some(arena::Arena::keeping()), true);
    session::run(&mut **session);
    (session.keeping, session.is_trial) = (None, false);
    if let Some(error) = session.error.take() {
        return Some(Pause::Failed(error));
    }
    let worn = session.worn;
    session.renew = false;
    session.restart(state.task.plan.begin());
    session.loops.forget();
    // A loop that is cut there, where memory is the system's, may be recognised from here on.
    session.cut_loops.clear();
    if session.pulse.is_stopped() {
        return Some(Pause::Over(stopped(state)));
    }
    session.use_arenas(true);
    session.recorder = state.task.recorder.take();
    worn.then(|| wear(session))
}

/// Whether the global allocator is ours.
fn arenas_work() -> bool {
    let Some(mut arena) = arena::Arena::take() else { return false };
    arena::enter(&mut *arena);
    let probe = std::hint::black_box(Box::new(0u64));
    arena::enter(std::ptr::null_mut());
    let ours = arena.contains(&raw const *probe as usize);
    arena.give_back();
    ours
}

/// CPU time of the OS thread that calls.
pub fn thread_cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid clock and a valid place for its time.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
