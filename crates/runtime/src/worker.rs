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
use unpick_core::execution::Execution;
use unpick_core::facts::Facts;
use unpick_core::mutant;
use unpick_core::op::Site;
use unpick_core::plan::{Ending, Outlook, Plan};
use unpick_core::purpose::Purpose;
use unpick_core::schedule;
use unpick_core::stats::Stats;
use unpick_core::violation::Point;
use unpick_driver::explore::{self, Explorer, Observer, Pause};
use unpick_driver::knowledge::Knowledge;
use unpick_driver::witness::Found;

use crate::fiber::Fiber;
use crate::frontend::Handle;
use crate::lent::Notes;
use crate::limits::Limits;
use crate::parked::{Pending, Worker};
use crate::pulse::Pulse;
use crate::record::Recorder;
use crate::session::{self, Program, Session};
use crate::{arena, current, interrupt, panics, signals, site, streams, unseen_threads};

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
    /// What is assumed of loops, of memory that is freed, and of what is written over atomics.
    pub assumptions: Vec<String>,
    /// What else is assumed, with the place where it was first.
    pub assumed: Vec<(&'static str, Site)>,
    /// Where an operation was weaker than SeqCst, under a strategy over sequentially consistent traces.
    pub weak: Option<Site>,
    /// Whether the process must end after the report: a destructor panicked during a panic.
    pub fatal: bool,
    /// What was recorded, if that was asked for.
    pub recorder: Option<Recorder>,
    /// Types of the objects behind locations, and behind plain cells.
    pub kinds: (Vec<&'static str>, Vec<&'static str>),
    /// What is to be said of pointers whose uses are seen in part.
    pub lent: Notes,
    /// The violations that were found, each once.
    pub found: Vec<Found>,
    /// What was seen of the program.
    pub purpose: Purpose,
    /// What has become known about the program.
    pub facts: Facts,
    /// What would be known if an execution had not repeated itself.
    pub facts_with_order: Facts,
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
    pub known: schedule::Knowledge,
    /// Limits of the whole.
    pub budget: explore::Limits,
    /// How long a thread may do nothing visible.
    pub hang: Duration,
    /// The memory model, as a number in schedules.
    pub model: u8,
    /// Records one execution instead of exploring all.
    pub recorder: Option<Recorder>,
    /// Sees every execution.
    pub observer: Option<Observer>,
}

/// What goes from one OS thread to the next, besides the session.
struct State {
    explorer: Explorer,
    cpu: Duration,
    warm: bool,
    /// Records the execution that follows the one that is thrown away.
    recorder: Option<Recorder>,
}

/// Carries out a task; calls `watch` now and then while it goes on.
pub fn explore(mut task: Task, watch: &mut dyn FnMut(&Pulse, Duration)) -> Result<Explored, Error> {
    panics::install();
    signals::install();
    unseen_threads::install();
    let pulse = Arc::new(Pulse::default());
    if task.limits.interrupts && interrupt::requested() {
        pulse.stop();
    }
    let patience = Patience { time: task.budget.time, hang: task.hang, interrupts: task.limits.interrupts };
    let execution = task.plan.begin();
    let knowledge = Knowledge::new(&task.known);
    let mut session = Session::new(execution, task.program, task.limits, knowledge, pulse.clone());
    session.model = task.model;
    let explorer = Explorer::new(task.plan, task.model, task.budget, task.observer);
    let mut state = State { explorer, cpu: Duration::ZERO, warm: false, recorder: task.recorder };
    let started = Instant::now();
    // Here, and not on the worker: the caller may have locked one.
    streams::open();
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
        let ((back, kept, pause), reusable) = supervise(&pending, &pulse, patience, started, watch)?;
        (session, state) = (back, kept);
        match pause? {
            Pause::Elsewhere => session.fibers.iter_mut().for_each(Fiber::abandon),
            Pause::Over(ending) => {
                // What a thread that was given up had begun, in a library for example, is never ended.
                if reusable && !session.has_abandoned {
                    worker.park();
                }
                return Ok(conclude(session, state, ending));
            }
        }
    }
}

fn conclude(mut session: Box<Session>, State { mut explorer, cpu, .. }: State, ending: Ending) -> Explored {
    let (stats, outlook) = explorer.conclude(&session.search);
    session.search.purpose.unseen_thread = session.unseen.as_ref().map(unseen_threads::place);
    let kinds = (
        session.objects.locations.iter().map(|known| known.kind).collect(),
        session.objects.cells.iter().map(|known| known.kind).collect(),
    );
    Explored {
        ending,
        stats,
        outlook,
        cpu,
        cut: explorer.cut,
        cut_loops: std::mem::take(&mut session.search.cut_loops),
        on_arenas: session.is_on_arenas(),
        spilled: session.heap.spilled,
        waits: session.search.waits,
        assumptions: assumptions(&session),
        weak: session.weak,
        fatal: session.fatal,
        recorder: session.recorder.take(),
        kinds,
        lent: std::mem::take(&mut session.lent.notes),
        found: std::mem::take(&mut explorer.found),
        assumed: std::mem::take(&mut session.assumed),
        purpose: std::mem::take(&mut session.search.purpose),
        facts: *session.search.knowledge.facts(),
        facts_with_order: session.facts_with_order(),
        execution: session.restart(explorer.plan.begin()),
    }
}

fn assumptions(session: &Session) -> Vec<String> {
    let of_search = session.search.assumptions().into_iter().map(String::from);
    of_search.chain(session.freed.assumptions()).chain(session.overwritten.assumption()).collect()
}

/// How long a worker is waited for.
#[derive(Clone, Copy)]
struct Patience {
    /// Time that the check may take.
    time: Option<Duration>,
    /// How long a thread may do nothing visible.
    hang: Duration,
    /// Whether an interrupt of the process ends it.
    interrupts: bool,
}

/// Waits for the worker, which began at `started`, and for signs of life. An execution that goes on long after the time is over
/// is given up.
fn supervise<T>(
    pending: &Pending<T>,
    pulse: &Pulse,
    patience: Patience,
    started: Instant,
    watch: &mut dyn FnMut(&Pulse, Duration),
) -> Result<(T, bool), Error> {
    let long_after = patience.time.and_then(|most| started.checked_add(most)?.checked_add(LONGER));
    let mut hang = patience.hang;
    let (mut beats, mut since) = (pulse.beats(), Instant::now());
    loop {
        if let Some(result) = pending.wait(Duration::from_millis(200)) {
            return Ok(result);
        }
        watch(pulse, started.elapsed());
        if patience.interrupts && interrupt::requested() {
            pulse.stop();
            hang = hang.min(LONGER);
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
const LONGER: Duration = Duration::from_secs(2);

/// Explores on this OS thread until something stops it.
fn work(session: &mut Box<Session>, state: &mut State) -> Result<Pause, Error> {
    let cpu = thread_cpu();
    let guarded = signals::guard_thread(session);
    let pause = work_on(session, state);
    drop(guarded);
    current::reset();
    state.cpu += thread_cpu().saturating_sub(cpu);
    pause
}

fn work_on(session: &mut Box<Session>, state: &mut State) -> Result<Pause, Error> {
    if !session.pulse.is_stopped() && !std::mem::replace(&mut state.warm, true) {
        warm_up(session, state)?;
    }
    // SAFETY: the session is boxed, and moves to another OS thread only when this one has done with it; nobody else uses it
    // as long as the handle is in use.
    state.explorer.go_on(&mut unsafe { Handle::new(&mut **session) })
}

/// The execution that is thrown away.
fn warm_up(session: &mut Box<Session>, state: &mut State) -> Result<(), Error> {
    // Asked before the threads take all arenas there are.
    session.heap.has_allocator = session.limits.arenas && arenas_work();
    session.use_arenas(false);
    if session.heap.has_allocator {
        (session.heap.keeping, session.is_trial) = (Some(arena::Arena::keeping()), true);
        session::run(&mut **session);
        (session.heap.keeping, session.is_trial) = (None, false);
        if let Some(error) = session.search.error.take() {
            return Err(error);
        }
        session.restart(state.explorer.plan.begin());
        session.search.knowledge.has_grown();
        session.search.loops.forget();
        // A loop that is cut there, where memory is the system's, may be recognised from here on.
        session.search.cut_loops.clear();
        session.use_arenas(true);
    } else {
        // What is born in the execution stays where it is.
        session.heap.keeping = Some(arena::Arena::delaying());
    }
    session.recorder = state.recorder.take();
    Ok(())
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
