//! Runs programs that are data as closures on fibers, through the library that users see.
//!
//! Each thread of the program is a thread of the library that interprets its code: an atomic per
//! location, a tag per lock. The graphs that come out are brought into the form of
//! [`crate::Key`], so that what is judged is the library and the runtime, not only the engine
//! beneath. Program thread `i` is engine thread `i + 1`.
//!
//! Locations get their engine numbers when they are first used, so the place of an event is found
//! by stepping the thread's code over the values of the graph. Under `tso` the library puts a fence
//! after each `sc` store; the program that it then runs is [`flushed`].
//!
//! Left out: programs with plain accesses. The library checks those without events.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use unpick::sync::atomic::{AtomicI64, Ordering, fence};
use unpick_check::{Config, registry};
use unpick_core::event::{Event, EventId};
use unpick_core::execution::{Execution, Outcome};
use unpick_core::graph::Graph;
use unpick_core::op::{Addr, Kind, Op, Site, ThreadId};
use unpick_core::plan::{Ending, Single};
use unpick_core::schedule::Knowledge;
use unpick_core::violation::{Kind as Violation, Wait};
use unpick_driver::explore;
use unpick_runtime::ops::{self, Object};
use unpick_runtime::site::site;
use unpick_runtime::worker::{self, Task};
use unpick_runtime::{Limits, Tag};

use crate::drive::{self, Explored, Settings};
use crate::key::{EventAt, Key};
use crate::program::{Mode, Program, Stmt, Value};
use crate::rounds::{self, Unrolled};
use crate::{Code, Machine, Model, Options, Step, compare, enumerate};

/// How long a program may do nothing visible; generous, as machines may be busy.
const HANG: Duration = Duration::from_secs(120);

/// What fibers get wrong about a program under any model, in words. Programs that are too large for
/// the oracle pass.
///
/// # Panics
///
/// As [`explore()`] does.
pub fn difference(program: &Program, spurious: bool) -> Option<String> {
    if !has_seqcst_stores(program) {
        return compare::difference_of(program, spurious, |settings| explore(program, settings));
    }
    // Where fibers run another program than this one, the data driver stands in for them.
    let own = compare::difference_of(program, spurious, |settings| match settings.model {
        "tso" => drive::explore(program, settings),
        _ => explore(program, settings),
    });
    own.or_else(|| difference_when_flushed(program, spurious))
}

/// What fibers get wrong about a program with loops, in words, given its graphs. Programs with plain accesses pass. Under `tso`,
/// fibers run another program if there are `sc` stores: that is not compared.
pub fn difference_in_loops(
    program: &Program,
    spurious: bool,
    mut truths: BTreeMap<Model, Unrolled>,
) -> Option<String> {
    if has_plain_accesses(program) {
        return None;
    }
    if has_seqcst_stores(program) {
        truths.remove(&Model::Tso);
    }
    // What the state of a thread is, fibers see otherwise: a register may be dead, or in memory that was not written.
    truths.values_mut().for_each(|truth| truth.minimal.clear());
    rounds::difference_of(program, spurious, &truths, |settings| {
        let found = explore(program, settings);
        // A loop that is not recognised leaves nothing to compare.
        Explored { given_up: found.given_up || found.cut > 0, ..found }
    })
}

/// What fibers get wrong under `tso` about a program with `sc` stores, in words.
///
/// # Panics
///
/// As [`explore()`] does.
pub fn difference_when_flushed(program: &Program, spurious: bool) -> Option<String> {
    let flushed = flushed(program);
    let options = Options { models: vec![Model::Tso], spurious, keys: true, ..Options::default() };
    let truth = enumerate(&flushed, &options).ok()?.remove(&Model::Tso)?;
    let found = explore(program, Settings { spurious, ..Settings::exact("tso") });
    let wanted = Explored {
        complete: truth.complete,
        blocked: truth.blocked,
        deadlock: truth.deadlock,
        racy: truth.racy,
        keys: truth.keys,
        ..Explored::default()
    };
    if found == wanted {
        return None;
    }
    // Once more, for the words.
    compare::difference_of(&flushed, spurious, |settings| match settings.model {
        "tso" => found.clone(),
        _ => drive::explore(&flushed, settings),
    })
}

/// Explores a program to the end.
///
/// # Panics
///
/// When the model is not known, the program has plain accesses, or the library reports anything but
/// a deadlock or a livelock.
pub fn explore(program: &Program, settings: Settings<'_>) -> Explored {
    explore_by(program, settings, "optimal")
}

/// Explores a program to the end, by a strategy with this name. Executions that the strategy gives up are
/// not counted.
///
/// # Panics
///
/// As [`explore()`] does, and when the strategy is not known.
pub fn explore_by(program: &Program, settings: Settings<'_>, strategy: &str) -> Explored {
    assert!(!has_plain_accesses(program), "plain accesses are no events on fibers: {program}");
    let mut config = Config {
        model: settings.model.to_string(),
        strategy: strategy.to_string(),
        spurious_failures: settings.spurious,
        ..Config::default()
    };
    if program.has_loops() {
        config.max_events = Some(settings.most_events);
    }
    registry::execution(&config).expect("a known memory model");
    let seen = match settings.model {
        "tso" => flushed(program),
        _ => program.clone(),
    };
    let most_executions = program.has_loops().then_some(settings.most_executions);
    let gives_up = strategy != "optimal";
    let witness = Arc::new(Mutex::new(Witness { gives_up, ..Witness::default() }));
    let theirs = Arc::clone(&witness);
    let task = Task {
        limits: Limits::default(),
        known: Knowledge::default(),
        budget: explore::Limits {
            executions: most_executions,
            time: None,
            violations: usize::MAX,
            ends_at_cut: false,
        },
        hang: HANG,
        model: 0,
        plan: Box::new(Single::new(move || registry::execution(&config).expect("a known memory model"))),
        program: closure(program),
        recorder: None,
        observer: Some(Box::new({
            let mut machines: Vec<Machine> = seen.compile().into_iter().map(Machine::new).collect();
            let keys = settings.keys;
            move |execution: &Execution, outcome: &Outcome| {
                let over = !matches!(outcome, Outcome::Rerun);
                let key = (keys && over).then(|| key(execution.graph(), &seen, &mut machines));
                theirs.lock().unwrap_or_else(PoisonError::into_inner).see(outcome, key);
            }
        })),
    };
    let ending = worker::explore(task, &mut |_, _| {}).map(|explored| {
        // A loop that was cut, or of which others notice too many rounds, is what the verdict names as a limit.
        if explored.cut_loops.is_empty() { explored.ending } else { Ending::Executions }
    });
    let witness = std::mem::take(&mut *witness.lock().unwrap_or_else(PoisonError::into_inner));
    match (ending, witness.problem) {
        (Ok(Ending::Exhausted), None) => witness.found,
        (Ok(Ending::Executions), None) => Explored { given_up: true, ..witness.found },
        (ending, problem) => panic!("{}: {program}\n{ending:?}, {problem:?}", settings.model),
    }
}

/// The program with a fence after each `sc` store.
pub fn flushed(program: &Program) -> Program {
    fn body(statements: &[Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for statement in statements {
            out.push(match statement {
                Stmt::If { cond, then, otherwise } => {
                    Stmt::If { cond: cond.clone(), then: body(then), otherwise: body(otherwise) }
                }
                Stmt::Await { body: round, until } => Stmt::Await { body: body(round), until: until.clone() },
                other => other.clone(),
            });
            if matches!(statement, Stmt::Store { mode: Mode::SeqCst, .. }) {
                out.push(Stmt::Fence { mode: Mode::SeqCst });
            }
        }
        out
    }
    let mut program = program.clone();
    for thread in &mut program.threads {
        thread.body = body(&thread.body);
    }
    program
}

/// Whether a program has `sc` stores, so that [`flushed`] is another program.
pub fn has_seqcst_stores(program: &Program) -> bool {
    program.any(&|statement| matches!(statement, Stmt::Store { mode: Mode::SeqCst, .. }))
}

/// Whether a program has accesses that fibers cannot make.
pub fn has_plain_accesses(program: &Program) -> bool {
    program.any(&|statement| {
        matches!(statement, Stmt::Load { mode: Mode::Plain, .. } | Stmt::Store { mode: Mode::Plain, .. })
    })
}

/// Collects what the runtime shows.
#[derive(Debug, Default)]
struct Witness {
    found: Explored,
    /// Whether the strategy may give executions up.
    gives_up: bool,
    problem: Option<String>,
}

impl Witness {
    /// Counts an execution.
    fn see(&mut self, outcome: &Outcome, key: Option<Key>) {
        match outcome {
            Outcome::Complete => self.found.complete += 1,
            Outcome::Cut(_) => {
                self.found.cut += 1;
                return;
            }
            Outcome::Blocked(waiters) if waiters.iter().any(|waiter| waiter.wait == Wait::Bound) => {
                self.found.cut += 1;
                return;
            }
            Outcome::Blocked(_) => self.found.blocked += 1,
            Outcome::Violated(violation)
                if matches!(violation.kind, Violation::Deadlock { .. } | Violation::Livelock { .. }) =>
            {
                self.found.blocked += 1;
                self.found.deadlock += 1;
            }
            // The search starts over: what it has found so far it will find again.
            Outcome::Rerun => {
                self.found = Explored::default();
                return;
            }
            Outcome::Ended if self.gives_up => return,
            other => {
                self.problem.get_or_insert_with(|| format!("unexpected outcome {other:?}"));
                return;
            }
        }
        if key.is_some_and(|key| !self.found.keys.insert(key)) {
            self.found.duplicates += 1;
        }
    }
}

/// What the threads of a program share.
struct Memory {
    locations: Vec<AtomicI64>,
    locks: Vec<Word>,
}

/// The word of a lock, which anybody may free.
#[derive(Default)]
struct Word(Tag);

impl Word {
    #[track_caller]
    fn take(&self, op: fn(Addr, Site) -> Op) -> u64 {
        ops::on_object(Object::new(&self.0, "Mutex"), 0, op(Addr::NONE, site(Location::caller())))
    }
}

/// The program as a closure. Threads may be abandoned in the middle, and with them their handles to
/// the code, which then lives for as long as the process.
fn closure(program: &Program) -> Arc<dyn Fn() + Send + Sync> {
    let codes = program.compile();
    let inits: Vec<Value> = program.locations.iter().map(|location| location.init).collect();
    let locks = program.locks.len();
    Arc::new(move || {
        let memory: &'static Memory = Box::leak(Box::new(Memory {
            locations: inits.iter().map(|&init| AtomicI64::new(init)).collect(),
            locks: (0..locks).map(|_| Word::default()).collect(),
        }));
        for code in &codes {
            let code = Arc::clone(code);
            unpick::thread::spawn(move || interpret(memory, code));
        }
    })
}

/// Runs the code of one thread.
fn interpret(memory: &Memory, code: Arc<Code>) {
    let mut machine = Machine::new(code);
    loop {
        let answer = match machine.current() {
            Step::Load { loc, mode } => memory.locations[loc.0 as usize].load(order(mode)),
            Step::Store { loc, mode, value } => {
                memory.locations[loc.0 as usize].store(value, order(mode));
                0
            }
            Step::FetchAdd { loc, mode, operand } => {
                memory.locations[loc.0 as usize].fetch_add(operand, order(mode))
            }
            Step::Exchange { loc, mode, value } => memory.locations[loc.0 as usize].swap(value, order(mode)),
            Step::Cas { loc, success, failure, expected, new, weak } => {
                let (location, success, failure) =
                    (&memory.locations[loc.0 as usize], order(success), order(failure));
                let old = match weak {
                    true => location.compare_exchange_weak(expected, new, success, failure),
                    false => location.compare_exchange(expected, new, success, failure),
                };
                match old {
                    Ok(old) => old,
                    Err(old) => {
                        machine.advance_spurious(old);
                        continue;
                    }
                }
            }
            Step::Fence { mode } => {
                fence(order(mode));
                0
            }
            Step::Lock { lock } => {
                memory.locks[lock.0 as usize].take(Op::lock);
                0
            }
            Step::Unlock { lock } => {
                memory.locks[lock.0 as usize].take(Op::unlock);
                0
            }
            Step::Post { lock } => {
                memory.locks[lock.0 as usize].take(Op::post);
                0
            }
            Step::TryLock { lock } => (memory.locks[lock.0 as usize].take(Op::try_lock) == 0).into(),
            Step::Choose { n } => unpick::choose(n as usize) as Value,
            Step::Blocked => {
                unpick::assume(false);
                return;
            }
            Step::Done => return,
        };
        machine.advance(answer);
    }
}

fn order(mode: Mode) -> Ordering {
    match mode {
        Mode::Plain => unreachable!("programs with plain accesses are refused"),
        Mode::Relaxed => Ordering::Relaxed,
        Mode::Acquire => Ordering::Acquire,
        Mode::Release => Ordering::Release,
        Mode::AcqRel => Ordering::AcqRel,
        Mode::SeqCst => Ordering::SeqCst,
    }
}

/// The canonical form of a graph in which locations have numbers of their own.
fn key(graph: &Graph, program: &Program, machines: &mut [Machine]) -> Key {
    let at = |id: EventId| EventAt { thread: id.thread.0 as u16 - 1, index: id.index as u16 };
    let mut mo = vec![Vec::new(); program.places()];
    let threads = machines.iter_mut().enumerate().map(|(number, machine)| {
        let thread = ThreadId(number as u32 + 1);
        machine.reset();
        let events = graph.thread(thread).iter().enumerate();
        let events = events.filter(|(_, event)| event.kind != Kind::Finish);
        let events = events.map(|(index, event)| {
            let place = place(program, machine.current());
            if let Some(place) = place
                && event.addr != Addr::NONE
            {
                mo[place as usize] = graph.writes(event.addr).iter().copied().map(at).collect();
            }
            let id = EventId::new(thread, index);
            answer(graph, id, event, machine);
            drive::key_event(graph, id, event, place, at)
        });
        events.collect()
    });
    let threads = threads.collect();
    Key { threads, mo }
}

/// The place that a step is about.
fn place(program: &Program, step: Step) -> Option<u16> {
    match step {
        Step::Load { loc, .. }
        | Step::Store { loc, .. }
        | Step::FetchAdd { loc, .. }
        | Step::Exchange { loc, .. }
        | Step::Cas { loc, .. } => Some(loc.0),
        Step::Lock { lock } | Step::Unlock { lock } | Step::TryLock { lock } | Step::Post { lock } => {
            Some(program.lock_place(lock))
        }
        _ => None,
    }
}

/// Gives a machine the answer that an event stands for.
fn answer(graph: &Graph, id: EventId, event: &Event, machine: &mut Machine) {
    let value = match event.kind {
        Kind::Read => graph.read_value(id) as Value,
        _ => event.value as Value,
    };
    match machine.current() {
        Step::Cas { .. } if !event.is_update() => machine.advance_spurious(value),
        Step::TryLock { .. } => machine.advance(i64::from(value == 0)),
        _ => machine.advance(value),
    }
}
