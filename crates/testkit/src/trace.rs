//! Which traces the threads of a program can have together, as far as values tell.
//!
//! A trace is one way through a thread. A combination has one trace per thread. The rule: a
//! combination is tried when its events can be put in an order that keeps `po` and in which each read
//! finds its value among the writes before it, and updates that read one value at one place are no
//! more than the writes of it. Every graph without a cycle in `po ∪ rf`, so every graph of every
//! model here, passes: such an order extends `po ∪ rf`, and each update reads a write of its own.
//!
//! Steps that read nothing are taken at once. That loses nothing, since writes only add to what others
//! may read.
//!
//! A thread goes round a loop so many times at most. Where it begins a round in a state in which it began one before,
//! there is a trace that ends there, and others that go on.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::{Machine, Step};
use crate::key::Kind;
use crate::oracle::TooLarge;
use crate::program::{Mode, Program, Value};

/// One event of a trace. Fields that its kind does not use are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    pub(crate) place: u16,
    pub(crate) mode: Mode,
    pub(crate) read: Value,
    pub(crate) written: Value,
    /// Whether it could go another way although it reads the same: a choice, or an exchange that fails without a
    /// reason.
    pub(crate) free: bool,
    /// Whether it waits for what it reads: it takes a lock.
    pub(crate) waits: bool,
}

impl Event {
    pub(crate) fn reads(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::Update)
    }

    pub(crate) fn writes(&self) -> bool {
        matches!(self.kind, Kind::Write | Kind::Update)
    }
}

/// Where a trace stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The thread is done.
    Done,
    /// It stands at a false `assume`.
    Assume,
    /// It waits for the lock whose word is this place.
    Waits(u16),
    /// It stands where a round of a loop begins, as it has before.
    Stands,
    /// It would have to go round a loop more often than is tried.
    Long,
    /// It stands at a read of this place, so the trace goes on.
    Reads(u16),
}

/// The state of a thread where a round of a loop begins.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// Events of the thread before.
    pub(crate) at: usize,
    position: usize,
    registers: Vec<Value>,
}

impl Arrival {
    /// Whether the thread is in the same state at both.
    pub(crate) fn is_as(&self, other: &Arrival) -> bool {
        self.position == other.position && self.registers == other.registers
    }
}

/// One way through a thread, up to a read or the end.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    pub(crate) events: Vec<Event>,
    pub(crate) end: End,
    /// Where rounds of loops begin.
    pub(crate) arrivals: Vec<Arrival>,
    machine: Machine,
    /// The traces that go on from here, by the value read. Filled as needed.
    next: BTreeMap<Value, Vec<usize>>,
}

impl Trace {
    pub(crate) fn registers(&self) -> &[Value] {
        self.machine.registers()
    }
}

/// What to do with a combination, with the budget that is left.
type Found<'f> = dyn FnMut(&[&Trace], &mut u64) -> Result<(), TooLarge> + 'f;

/// The traces of all threads, and the search through their combinations.
pub(crate) struct Traces<'p> {
    program: &'p Program,
    spurious: bool,
    /// How often a thread goes round a loop, at most.
    rounds: usize,
    /// Per thread: all traces found so far.
    threads: Vec<Vec<Trace>>,
}

impl<'p> Traces<'p> {
    /// Calls `found` with every combination. `budget` bounds the number of steps.
    pub(crate) fn combinations(
        program: &'p Program,
        spurious: bool,
        rounds: usize,
        budget: &mut u64,
        found: &mut Found<'_>,
    ) -> Result<(), TooLarge> {
        let threads = vec![Vec::new(); program.threads.len()];
        let mut traces = Traces { program, spurious, rounds, threads };
        let mut todo = vec![Vec::new()];
        for (thread, code) in program.compile().into_iter().enumerate() {
            let mut starts = Vec::new();
            traces.settle(thread, Machine::new(code), (Vec::new(), Vec::new()), &mut starts);
            todo = extended(&todo, &starts);
        }
        let mut seen: BTreeSet<Vec<usize>> = todo.iter().cloned().collect();
        while let Some(state) = todo.pop() {
            *budget = budget.checked_sub(1).ok_or(TooLarge)?;
            let chosen: Vec<&Trace> = traces.threads.iter().zip(&state).map(|(of, &at)| &of[at]).collect();
            if chosen.iter().all(|trace| !matches!(trace.end, End::Reads(_))) {
                found(&chosen, budget)?;
            }
            let written = Written::by(program, &chosen);
            for thread in 0..state.len() {
                for value in traces.readable(thread, state[thread], &written) {
                    for next in traces.after(thread, state[thread], value, &written) {
                        let mut successor = state.clone();
                        successor[thread] = next;
                        if seen.insert(successor.clone()) {
                            todo.push(successor);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The values that the read at the end of a trace can find.
    fn readable(&self, thread: usize, at: usize, written: &Written) -> Vec<Value> {
        match self.threads[thread][at].end {
            End::Done | End::Assume | End::Stands | End::Long => Vec::new(),
            End::Reads(place) => written.values(place).collect(),
            End::Waits(word) => written.values(word).filter(|&value| value == 0).collect(),
        }
    }

    /// The traces that go on by reading `value`, when there is a write for each update.
    fn after(&mut self, thread: usize, at: usize, value: Value, written: &Written) -> Vec<usize> {
        let trace = &self.threads[thread][at];
        let read_at = trace.events.len();
        if !trace.next.contains_key(&value) {
            let next = self.read(thread, at, value);
            self.threads[thread][at].next.insert(value, next);
        }
        let of_thread = &self.threads[thread];
        let fits = |next: &&usize| {
            let event = &of_thread[**next].events[read_at];
            event.kind != Kind::Update || written.unused(event.place, value)
        };
        of_thread[at].next[&value].iter().filter(fits).copied().collect()
    }

    /// All ways to read `value` at the end of a trace.
    fn read(&mut self, thread: usize, at: usize, value: Value) -> Vec<usize> {
        let Trace { machine, events, arrivals, .. } = self.threads[thread][at].clone();
        let mut found = Vec::new();
        let (program, spurious) = (self.program, self.spurious);
        let lock_word = |lock| program.lock_place(lock);
        let mut go = |event: Event, answer: Value, fails: bool| {
            let (mut machine, mut events) = (machine.clone(), events.clone());
            events.push(Event { free: fails, ..event });
            if fails {
                machine.advance_spurious(answer)
            } else {
                machine.advance(answer)
            }
            self.settle(thread, machine, (events, arrivals.clone()), &mut found);
        };
        match machine.current() {
            Step::Load { loc, mode } => go(read(loc.0, mode, value), value, false),
            Step::FetchAdd { loc, mode, operand } => {
                go(update(loc.0, mode, value, value.wrapping_add(operand)), value, false);
            }
            Step::Exchange { loc, mode, value: new } => go(update(loc.0, mode, value, new), value, false),
            Step::Cas { loc, success, failure, expected, new, weak } => {
                if value != expected {
                    go(read(loc.0, failure, value), value, false);
                } else {
                    go(update(loc.0, success, value, new), value, false);
                    if weak && spurious {
                        go(read(loc.0, failure, value), value, true);
                    }
                }
            }
            Step::Lock { lock } => {
                go(Event { waits: true, ..update(lock_word(lock), Mode::Acquire, 0, 1) }, 0, false);
            }
            Step::Post { lock } => go(update(lock_word(lock), Mode::Release, value, 0), 0, false),
            Step::TryLock { lock } if value == 0 => {
                go(update(lock_word(lock), Mode::Acquire, 0, 1), 1, false)
            }
            Step::TryLock { lock } => go(read(lock_word(lock), Mode::Relaxed, value), 0, false),
            step => unreachable!("{step:?} does not read"),
        }
        found
    }

    /// Takes all steps that read nothing, and records the traces that result.
    fn settle(
        &mut self,
        thread: usize,
        mut machine: Machine,
        (mut events, mut arrivals): (Vec<Event>, Vec<Arrival>),
        found: &mut Vec<usize>,
    ) {
        let end = loop {
            if machine.is_at_head() {
                let (at, position) = (events.len(), machine.position());
                let arrival = Arrival { at, position, registers: machine.registers().to_vec() };
                let rounds = arrivals.iter().filter(|before| before.position == position).count();
                let again = arrivals.iter().any(|before| before.is_as(&arrival));
                arrivals.push(arrival);
                if again {
                    let (machine, events, arrivals) = (machine.clone(), events.clone(), arrivals.clone());
                    self.add(
                        thread,
                        Trace { events, end: End::Stands, arrivals, machine, next: BTreeMap::new() },
                        found,
                    );
                }
                if rounds >= self.rounds {
                    break End::Long;
                }
            }
            let event = match machine.current() {
                Step::Done => break End::Done,
                Step::Blocked => break End::Assume,
                Step::Lock { lock } => break End::Waits(self.program.lock_place(lock)),
                Step::TryLock { lock } | Step::Post { lock } => {
                    break End::Reads(self.program.lock_place(lock));
                }
                Step::Load { loc, .. }
                | Step::FetchAdd { loc, .. }
                | Step::Exchange { loc, .. }
                | Step::Cas { loc, .. } => break End::Reads(loc.0),
                Step::Choose { n } => {
                    for choice in 0..n.into() {
                        let (mut machine, mut events) = (machine.clone(), events.clone());
                        machine.advance(choice);
                        let free = n > 1;
                        events.push(Event { kind: Kind::Choice, free, ..read(0, Mode::Plain, choice) });
                        self.settle(thread, machine, (events, arrivals.clone()), found);
                    }
                    return;
                }
                Step::Store { loc, mode, value } => write(loc.0, mode, value),
                Step::Unlock { lock } => write(self.program.lock_place(lock), Mode::Release, 0),
                Step::Fence { mode } => Event { kind: Kind::Fence, ..read(0, mode, 0) },
            };
            machine.advance(0);
            events.push(event);
        };
        self.add(thread, Trace { events, end, arrivals, machine, next: BTreeMap::new() }, found);
    }

    fn add(&mut self, thread: usize, trace: Trace, found: &mut Vec<usize>) {
        found.push(self.threads[thread].len());
        self.threads[thread].push(trace);
    }
}

/// Each of `prefixes` with each of `choices` at its end.
fn extended(prefixes: &[Vec<usize>], choices: &[usize]) -> Vec<Vec<usize>> {
    let mut out = Vec::new();
    for prefix in prefixes {
        out.extend(choices.iter().map(|&choice| [prefix.as_slice(), &[choice]].concat()));
    }
    out
}

/// How often each value has been written to each place, and how often an update has read it.
struct Written(BTreeMap<(u16, Value), (u32, u32)>);

impl Written {
    fn by(program: &Program, traces: &[&Trace]) -> Written {
        let initial = (0..program.places() as u16).map(|place| ((place, program.initial(place)), (1, 0)));
        let mut counts: BTreeMap<(u16, Value), (u32, u32)> = initial.collect();
        for event in traces.iter().flat_map(|trace| &trace.events) {
            if event.writes() {
                counts.entry((event.place, event.written)).or_default().0 += 1;
            }
            if event.kind == Kind::Update {
                counts.entry((event.place, event.read)).or_default().1 += 1;
            }
        }
        Written(counts)
    }

    fn values(&self, place: u16) -> impl Iterator<Item = Value> {
        self.0.range((place, Value::MIN)..=(place, Value::MAX)).map(|((_, value), _)| *value)
    }

    /// Whether some write of `value` has no update that reads it.
    fn unused(&self, place: u16, value: Value) -> bool {
        self.0.get(&(place, value)).is_some_and(|(writes, updates)| updates < writes)
    }
}

fn read(place: u16, mode: Mode, read: Value) -> Event {
    Event { kind: Kind::Read, place, mode, read, written: 0, free: false, waits: false }
}

fn write(place: u16, mode: Mode, written: Value) -> Event {
    Event { kind: Kind::Write, place, mode, read: 0, written, free: false, waits: false }
}

fn update(place: u16, mode: Mode, read: Value, written: Value) -> Event {
    Event { kind: Kind::Update, place, mode, read, written, free: false, waits: false }
}
