//! Drives the engine over programs that are data, by a plain loop.
//!
//! The main thread of the engine spawns one thread per thread of the program and ends; program
//! thread `i` is engine thread `i + 1`. Places of the program are locations of the engine, under
//! the same numbers.
//!
//! Loops that wait are recognised exactly: the state of a thread where a round begins is its position and all its
//! registers. When a state comes back, [`Execution::spin`] is asked whether the thread stops.

use std::collections::BTreeSet;

use unpick_checkers::{race, stuck};
use unpick_core::error::Error;
use unpick_core::event::{Event, EventId};
use unpick_core::execution::{Execution, Outcome};
use unpick_core::graph::Graph;
use unpick_core::op::{Addr, Kind, Mode, Op, Rmw, Site, ThreadId};
use unpick_core::plan::{Ending as End, Plan, Single};
use unpick_core::round::{self, Spare};
use unpick_core::schedule::{Schedule, linearise};
use unpick_core::strategy::Strategy;
use unpick_core::violation::{Point, Wait, Waiter};
use unpick_driver::explore::{self, Explorer, Pause, Runner};
use unpick_driver::knowledge::Knowledge;
use unpick_driver::search::{LoopLimits, Search};
use unpick_strategies::in_order::InOrder;
use unpick_strategies::optimal::Optimal;
use unpick_strategies::replay::{Replay, fits};

use crate::key::{EventAt, Key, KeyEvent, Kind as KeyKind, Source};
use crate::oracle::{Ending, Outcome as Observed};
use crate::program::{Mode as ProgramMode, Program, Value};
use crate::{Machine, Step};

/// What the engine found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    /// Executions in which all threads ended.
    pub complete: u64,
    /// Executions in which some thread can never go on.
    pub blocked: u64,
    /// Blocked executions in which all waiters wait for locks.
    pub deadlock: u64,
    /// Executions with a data race.
    pub racy: u64,
    /// Executions beyond the bound on preemptions; they are counted nowhere else, and have no key.
    pub beyond: u64,
    /// Executions that were given up, since they are known from others.
    pub ended: u64,
    /// Executions with too many events; they are counted nowhere else, and have no key.
    pub cut: u64,
    /// Graphs that were not followed because of the bound.
    pub left_out: u64,
    /// Whether there were more executions than asked for.
    pub given_up: bool,
    /// Executions that had been seen before; counted only when keys are kept.
    pub duplicates: u64,
    /// Keys of the executions; empty unless asked for.
    pub keys: BTreeSet<Key>,
    /// The rounds that leave nothing behind, of the executions in which all threads ended; empty unless keys are asked
    /// for.
    pub rounds: BTreeSet<(Key, Round)>,
}

/// A round of a loop that ends in the state in which it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Round {
    /// The thread.
    pub thread: usize,
    /// Its first event.
    pub from: usize,
    /// The first event after it.
    pub to: usize,
}

/// How to explore.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// Name of the memory model.
    pub model: &'a str,
    /// Whether weak exchanges may fail without a reason.
    pub spurious: bool,
    /// Whether to keep the keys of all executions.
    pub keys: bool,
    /// Preemptions at most.
    pub bound: Option<u32>,
    /// Whether only executions are explored in which all but loads takes effect in order.
    pub in_order: bool,
    /// Whether it then repeats what it has recorded in order.
    pub keeps_order: bool,
    /// Whether threads stop in loops that wait. If not, executions are cut at `most_events`.
    pub recognises: bool,
    /// Events of an execution at most.
    pub most_events: usize,
    /// Executions at most.
    pub most_executions: u64,
}

impl<'a> Settings<'a> {
    /// Counting only.
    pub fn counting(model: &'a str) -> Settings<'a> {
        Settings {
            model,
            spurious: false,
            keys: false,
            bound: None,
            in_order: false,
            keeps_order: false,
            recognises: true,
            most_events: usize::MAX,
            most_executions: u64::MAX,
        }
    }

    /// Keeping keys.
    pub fn exact(model: &'a str) -> Settings<'a> {
        Settings { keys: true, ..Settings::counting(model) }
    }
}

/// Explores a program to the end.
///
/// # Panics
///
/// When the model is not known, or the engine finds the program not to repeat itself.
pub fn explore(program: &Program, settings: Settings<'_>) -> Explored {
    let (model, fixed) = (settings.model.to_string(), Settings { model: "", ..settings });
    let mut plan = Box::new(Single::new(move || {
        let model = unpick_models::by_name(&model).expect("a known memory model");
        Execution::new(model, strategy(fixed), fixed.most_events)
    }));
    let loops = LoopLimits { recognised: settings.recognises, rounds: usize::MAX };
    let machines: Vec<Machine> = program.compile().into_iter().map(Machine::new).collect();
    let mut data = Data {
        search: Search::new(plan.begin(), loops, Knowledge::default()),
        program,
        settings,
        arrivals: vec![Vec::new(); machines.len()],
        machines,
        spare: Spare::default(),
        found: Explored::default(),
    };
    let limits = explore::Limits { executions: None, time: None, violations: usize::MAX, ends_at_cut: false };
    match Explorer::new(plan, 0, limits, None).go_on(&mut data) {
        Ok(Pause::Over(End::Exhausted)) => {}
        Ok(Pause::Over(End::Executions)) => data.found.given_up = true,
        other => panic!("unexpected ending {other:?} of {program}"),
    }
    let Data { search, mut found, .. } = data;
    found.left_out = search.execution.strategy().preemption_bound().map_or(0, |bound| bound.left_out);
    found
}

/// A program that is data, and what was found of it.
struct Data<'a> {
    search: Search,
    program: &'a Program,
    settings: Settings<'a>,
    machines: Vec<Machine>,
    arrivals: Vec<Vec<Arrival>>,
    /// As many rounds of loops as are known to matter.
    spare: Spare,
    found: Explored,
}

impl Runner for Data<'_> {
    fn search(&mut self) -> &mut Search {
        &mut self.search
    }

    fn run(&mut self) -> Result<Outcome, Error> {
        let Data { search: Search { execution, knowledge, limits, .. }, program, .. } = self;
        execution.set_spare(&self.spare);
        let outcome = run_with(execution, program, &mut self.machines, &mut self.arrivals, limits.recognised);
        execution.note_accesses();
        if let Some((spare, _)) = execution.wanted_spare() {
            self.found.given_up = spare.rounds > round::MOST_SPARE;
            self.spare = spare;
            knowledge.grow();
            return Ok(Outcome::Rerun);
        }
        self.count(&outcome);
        Ok(outcome)
    }

    fn before_run(&mut self, _: &Explorer) -> Result<Option<Pause>, Error> {
        let most = self.settings.most_executions;
        let over = self.found.given_up || self.search.execution.stats().runs >= most;
        Ok(over.then_some(Pause::Over(End::Executions)))
    }

    fn begin_search(&mut self) {
        let given_up = self.found.given_up;
        self.found = Explored { given_up, ..Explored::default() };
    }
}

impl Data<'_> {
    fn count(&mut self, outcome: &Outcome) {
        let Data { search, program, found, arrivals, .. } = self;
        let (graph, patient) = (search.execution.graph(), !search.knowledge.is_impatient());
        match outcome {
            _ if search.execution.is_beyond() => {
                found.beyond += 1;
                return;
            }
            Outcome::Ended => {
                found.ended += 1;
                return;
            }
            Outcome::Cut(_) => {
                found.cut += 1;
                return;
            }
            Outcome::Complete => found.complete += 1,
            Outcome::Blocked(waiters) => {
                found.blocked += 1;
                found.deadlock += u64::from(stuck::judge(graph, waiters, patient, &[]).is_some());
            }
            other => panic!("unexpected outcome {other:?} of {program}"),
        }
        found.racy += u64::from(race::in_graph(graph).is_some());
        if self.settings.keys {
            let key = key(graph, program);
            if matches!(outcome, Outcome::Complete) {
                let rounds = idle_rounds(graph, arrivals);
                found.rounds.extend(rounds.map(|round| (key.clone(), round)));
            }
            found.duplicates += u64::from(!found.keys.insert(key));
        }
    }
}

fn strategy(settings: Settings<'_>) -> Box<dyn Strategy> {
    let optimal = Optimal::new(settings.spurious);
    match settings.bound {
        bound if settings.in_order => {
            let in_order = InOrder::new(bound, settings.spurious);
            Box::new(if settings.keeps_order { in_order.keeping_order() } else { in_order })
        }
        Some(bound) => Box::new(optimal.with_preemption_bound(bound)),
        None => Box::new(optimal),
    }
}

/// One run of a program.
pub fn run(execution: &mut Execution, program: &Program, machines: &mut [Machine]) -> Outcome {
    let mut arrivals = vec![Vec::new(); machines.len()];
    run_with(execution, program, machines, &mut arrivals, true)
}

/// One run of a program; `recognises`: whether threads stop in loops that wait.
fn run_with(
    execution: &mut Execution,
    program: &Program,
    machines: &mut [Machine],
    arrivals: &mut [Vec<Arrival>],
    recognises: bool,
) -> Outcome {
    execution.begin();
    for place in execution.graph().location_count()..program.places() {
        let addr = execution.graph_mut().add_location(program.initial(place as u16) as u64);
        execution.graph_mut().set_name(addr, place as u64 + 1);
    }
    machines.iter_mut().for_each(Machine::reset);
    arrivals.iter_mut().for_each(Vec::clear);
    let mut spawned = 0;
    while let Some(thread) = execution.next_thread() {
        if thread == ThreadId::MAIN {
            while spawned < machines.len() && execution.op(thread, &Op::spawn(Site(0))).is_some() {
                spawned += 1;
            }
            if spawned == machines.len() {
                execution.op(thread, &Op::finish());
            }
        } else {
            let number = thread.index() - 1;
            let arrivals = recognises.then_some(&mut arrivals[number]);
            step(execution, program, thread, &mut machines[number], arrivals);
        }
    }
    execution.end()
}

/// The state of a thread where it began a round of a loop.
#[derive(Clone, Debug)]
struct Arrival {
    /// Events of the thread before.
    at: u32,
    position: usize,
    registers: Vec<Value>,
}

/// The rounds of all threads that leave nothing behind.
fn idle_rounds<'a>(graph: &'a Graph, arrivals: &'a [Vec<Arrival>]) -> impl Iterator<Item = Round> + 'a {
    arrivals.iter().enumerate().flat_map(move |(thread, arrivals)| {
        let pairs = arrivals.iter().enumerate().flat_map(|(number, to)| {
            let same = |from: &&Arrival| from.position == to.position && from.registers == to.registers;
            arrivals[..number].iter().filter(same).map(move |from| (from.at, to.at))
        });
        let id = ThreadId(thread as u32 + 1);
        let idle = pairs.filter(move |&(from, to)| round::leaves_nothing(graph, id, from..to));
        idle.map(move |(from, to)| Round { thread, from: from as usize, to: to as usize })
    })
}

/// Notes where a thread begins a round; where earlier rounds began in the same state, the latest first.
fn arrive(arrivals: &mut Vec<Arrival>, at: u32, machine: &Machine) -> Vec<u32> {
    let (position, registers) = (machine.position(), machine.registers());
    // A thread that had to stop here comes by once more.
    if arrivals.last().is_none_or(|last| last.at < at) {
        arrivals.push(Arrival { at, position, registers: registers.to_vec() });
    }
    let before = arrivals.iter().rev().filter(|before| before.at < at);
    let same = before.filter(|before| before.position == position && before.registers == registers);
    same.map(|before| before.at).collect()
}

/// Lets a thread take ops until it must stop.
fn step(
    execution: &mut Execution,
    program: &Program,
    thread: ThreadId,
    machine: &mut Machine,
    mut arrivals: Option<&mut Vec<Arrival>>,
) {
    loop {
        let current = machine.current();
        // Places in the source: those of the thread's code.
        let site = Site((u64::from(thread.0) << 32) | (machine.position() as u64 + 1));
        let Some(op) = op(program, current, site) else {
            let point = Point { thread, index: execution.position(thread), site: Site(0) };
            execution.block(thread, Waiter { point, wait: Wait::Assume });
            return;
        };
        if let Some(arrivals) = arrivals.as_deref_mut()
            && machine.is_at_head()
        {
            let at = execution.position(thread);
            let point = Point { thread, index: at, site };
            let rounds = arrive(arrivals, at, machine);
            if !rounds.is_empty() && execution.spin_since(point, Some(&op), &rounds) {
                return;
            }
        }
        let Some(value) = execution.op(thread, &op) else { return };
        match current {
            Step::Done => return,
            Step::TryLock { .. } => machine.advance(i64::from(value == 0)),
            Step::Cas { weak: true, .. } => {
                let last = EventId::new(thread, execution.position(thread) as usize - 1);
                if execution.graph().event(last).has(Event::SPURIOUS) {
                    machine.advance_spurious(value as Value);
                } else {
                    machine.advance(value as Value);
                }
            }
            _ => machine.advance(value as Value),
        }
    }
}

/// The engine's op for a step; `None` for a thread that is blocked.
fn op(program: &Program, step: Step, site: Site) -> Option<Op> {
    let at = |loc: crate::program::Loc| Addr(loc.0.into());
    let lock = |lock: crate::program::Lock| Addr(program.lock_place(lock).into());
    Some(match step {
        Step::Load { loc, mode } => Op::load(at(loc), self::mode(mode), site),
        Step::Store { loc, mode, value } => Op::store(at(loc), self::mode(mode), value as u64, site),
        Step::FetchAdd { loc, mode, operand } => {
            Op::rmw(at(loc), Rmw::Add, self::mode(mode), operand as u64, site)
        }
        Step::Exchange { loc, mode, value } => {
            Op::rmw(at(loc), Rmw::Swap, self::mode(mode), value as u64, site)
        }
        Step::Cas { loc, success, failure, expected, new, weak } => {
            let modes = (self::mode(success), self::mode(failure));
            Op::cas(at(loc), modes, expected as u64, new as u64, weak, site)
        }
        Step::Fence { mode } => Op::fence(self::mode(mode), site),
        Step::Lock { lock: l } => Op::lock(lock(l), site),
        Step::Unlock { lock: l } => Op::unlock(lock(l), site),
        Step::Post { lock: l } => Op::post(lock(l), site),
        Step::TryLock { lock: l } => Op::try_lock(lock(l), site),
        Step::Choose { n } => Op::choice(n.into(), site),
        Step::Blocked => return None,
        Step::Done => Op::finish(),
    })
}

fn mode(mode: ProgramMode) -> Mode {
    match mode {
        ProgramMode::Plain => Mode::Plain,
        ProgramMode::Relaxed => Mode::Relaxed,
        ProgramMode::Acquire => Mode::Acquire,
        ProgramMode::Release => Mode::Release,
        ProgramMode::AcqRel => Mode::AcqRel,
        ProgramMode::SeqCst => Mode::SeqCst,
    }
}

/// The canonical form of the engine's graph.
pub fn key(graph: &Graph, program: &Program) -> Key {
    let at = |id: EventId| EventAt { thread: id.thread.0 as u16 - 1, index: id.index as u16 };
    let threads = (1..=program.threads.len()).map(|t| {
        let thread = ThreadId(t as u32);
        let events = graph.thread(thread).iter().enumerate();
        let events = events.filter(|(_, event)| event.kind != Kind::Finish);
        let event = |(index, event): (usize, &Event)| {
            let place = (event.addr != Addr::NONE).then_some(event.addr.0 as u16);
            key_event(graph, EventId::new(thread, index), event, place, at)
        };
        events.map(event).collect()
    });
    let mo = (0..program.places()).map(|place| match graph.location_count() > place {
        true => graph.writes(Addr(place as u32)).iter().copied().map(at).collect(),
        false => Vec::new(),
    });
    Key { threads: threads.collect(), mo: mo.collect() }
}

/// An event as a part of a key; `place`: the location, as the program calls it.
pub(crate) fn key_event(
    graph: &Graph,
    id: EventId,
    event: &Event,
    place: Option<u16>,
    at: impl Fn(EventId) -> EventAt,
) -> KeyEvent {
    let kind = match event.kind {
        Kind::Read if event.is_update() => KeyKind::Update,
        Kind::Read => KeyKind::Read,
        Kind::Write => KeyKind::Write,
        Kind::Choice => KeyKind::Choice,
        _ => KeyKind::Fence,
    };
    let read = match event.kind {
        Kind::Read => Some(graph.read_value(id) as Value),
        Kind::Choice => Some(event.value as Value),
        _ => None,
    };
    let source = || if event.rf.is_init() { Source::Init } else { Source::Event(at(event.rf)) };
    KeyEvent {
        kind,
        place,
        read,
        written: event.is_write().then_some(event.value as Value),
        rf: event.is_read().then(source),
    }
}

/// Every execution of a program, as the order of its events with few changes of thread, to be
/// looked at.
pub fn each_execution(program: &Program, model: &str, mut look: impl FnMut(&Graph, &[EventId])) {
    let strategy = Box::new(Optimal::new(false));
    let model = unpick_models::by_name(model).expect("a known memory model");
    let mut execution = Execution::new(model, strategy, usize::MAX);
    let mut machines: Vec<Machine> = program.compile().into_iter().map(Machine::new).collect();
    loop {
        run(&mut execution, program, &mut machines);
        let graph = execution.graph();
        let lens: Vec<u32> =
            (0..graph.thread_count()).map(|t| graph.thread_len(ThreadId(t as u32)) as u32).collect();
        look(graph, &linearise(graph, &lens));
        if !execution.advance() {
            return;
        }
    }
}

/// Runs a program again and again under a strategy that samples, this many times, and shows the graph of
/// each run, how it ended, and what the program observed.
///
/// # Panics
///
/// When the model is not known.
pub fn sample(
    program: &Program,
    model: &str,
    strategy: Box<dyn Strategy>,
    runs: u64,
    mut look: impl FnMut(&Graph, &Outcome, &mut dyn FnMut() -> Observed),
) -> Execution {
    let model = unpick_models::by_name(model).expect("a known memory model");
    let mut execution = Execution::new(model, strategy, usize::MAX);
    let mut machines: Vec<Machine> = program.compile().into_iter().map(Machine::new).collect();
    for _ in 0..runs {
        let outcome = run(&mut execution, program, &mut machines);
        let graph = execution.graph();
        look(graph, &outcome, &mut || observed(program, graph, &outcome, &machines));
        execution.recycle(outcome);
        execution.advance();
    }
    execution
}

/// What a program has observed at the end of a run, in the words of the oracle.
fn observed(program: &Program, graph: &Graph, outcome: &Outcome, machines: &[Machine]) -> Observed {
    let ending = match outcome {
        Outcome::Blocked(waiters) if stuck::judge(graph, waiters, true, &[]).is_some() => Ending::Deadlock,
        Outcome::Blocked(_) => Ending::Blocked,
        _ => Ending::Complete,
    };
    let last = |place: usize| match graph.location_count() > place {
        true => graph.value(Addr(place as u32), graph.newest(Addr(place as u32))) as Value,
        false => program.initial(place as u16),
    };
    let memory = (0..program.locations.len()).map(last).collect();
    Observed {
        ending,
        registers: machines.iter().map(|machine| machine.registers().to_vec()).collect(),
        memory,
    }
}

/// The execution that a schedule leads to, or `None` if it cannot be followed to its end.
pub fn replay(program: &Program, model: &str, schedule: &Schedule) -> Option<Key> {
    let model = unpick_models::by_name(model).expect("a known memory model");
    let mut execution = Execution::new(model, Box::new(Replay::new(schedule.clone())), usize::MAX);
    let mut machines: Vec<Machine> = program.compile().into_iter().map(Machine::new).collect();
    run(&mut execution, program, &mut machines);
    let graph = execution.graph();
    fits(schedule, &execution).then(|| key(graph, program))
}
