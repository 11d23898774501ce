//! Preemptions by brute force, in two ways that share nothing with the engine or with each other.
//!
//! [`schedules`] interleaves the threads of a program in every way over one memory, which is sequential
//! consistency, and notes for each graph the fewest preemptions that lead to it. [`fewest`] takes
//! any graph and tries all orders of its events. The rule: a switch away from a thread is a
//! preemption if the thread could take its next step there. A thread cannot when it is done, stands at
//! a false `assume`, or before a lock that is taken.

use std::collections::BTreeMap;

use crate::code::{Machine, Step};
use crate::key::{EventAt, Key, KeyEvent, Kind, Source};
use crate::program::{Lock, Mode, Program, Value};

/// A program in the middle of an interleaving.
#[derive(Clone)]
struct State {
    machines: Vec<Machine>,
    /// The value of each place and who wrote it.
    memory: Vec<(Value, Source)>,
}

/// What a step does to memory: the place, and what it writes when it reads a value.
enum Access {
    None,
    Read(u16),
    Write(u16, Value),
    Update(u16, Box<dyn Fn(Value) -> Option<Value>>),
}

fn access(program: &Program, step: Step) -> Access {
    let word = |lock: Lock| program.lock_place(lock);
    match step {
        Step::Load { loc, .. } => Access::Read(loc.0),
        Step::Store { loc, value, .. } => Access::Write(loc.0, value),
        Step::FetchAdd { loc, operand, .. } => {
            Access::Update(loc.0, Box::new(move |old| Some(old.wrapping_add(operand))))
        }
        Step::Exchange { loc, value, .. } => Access::Update(loc.0, Box::new(move |_| Some(value))),
        Step::Cas { loc, expected, new, .. } => {
            Access::Update(loc.0, Box::new(move |old| (old == expected).then_some(new)))
        }
        Step::Lock { lock } | Step::TryLock { lock } => {
            Access::Update(word(lock), Box::new(|old| (old == 0).then_some(1)))
        }
        Step::Unlock { lock } => Access::Write(word(lock), 0),
        Step::Post { lock } => Access::Update(word(lock), Box::new(|_| Some(0))),
        Step::Fence { .. } | Step::Choose { .. } | Step::Blocked | Step::Done => Access::None,
    }
}

/// Every graph of the program under sequential consistency with the fewest preemptions that lead
/// to it; nothing if that takes more than `most` states.
pub fn schedules(program: &Program, most: usize) -> Option<BTreeMap<Key, u32>> {
    let start = State {
        machines: program.compile().into_iter().map(Machine::new).collect(),
        memory: (0..program.places()).map(|place| (program.initial(place as u16), Source::Init)).collect(),
    };
    let empty =
        Key { threads: vec![Vec::new(); program.threads.len()], mo: vec![Vec::new(); program.places()] };
    // Equal graphs with the same last thread have the same future.
    let mut layer = BTreeMap::from([((empty, usize::MAX), (0, start))]);
    let mut found: BTreeMap<Key, u32> = BTreeMap::new();
    let mut states = 0;
    while !layer.is_empty() {
        let mut next = BTreeMap::new();
        for ((key, last), (cost, state)) in layer {
            states += 1;
            if states > most {
                return None;
            }
            let enabled: Vec<usize> =
                (0..state.machines.len()).filter(|&t| state.enabled(program, t)).collect();
            if enabled.is_empty() {
                let fewest = found.entry(key).or_insert(cost);
                *fewest = cost.min(*fewest);
                continue;
            }
            for &thread in &enabled {
                let cost = cost + u32::from(thread != last && enabled.contains(&last));
                state.step(program, &key, thread, |key, state| {
                    let known = next.entry((key, thread)).or_insert_with(|| (cost, state));
                    known.0 = cost.min(known.0);
                });
            }
        }
        layer = next;
    }
    Some(found)
}

impl State {
    fn enabled(&self, program: &Program, thread: usize) -> bool {
        match self.machines[thread].current() {
            Step::Done | Step::Blocked => false,
            Step::Lock { lock } => self.memory[program.lock_place(lock) as usize].0 == 0,
            _ => true,
        }
    }

    /// Lets a thread take a step, in every way.
    fn step(&self, program: &Program, key: &Key, thread: usize, mut reached: impl FnMut(Key, State)) {
        let step = self.machines[thread].current();
        let mut event = KeyEvent { kind: Kind::Fence, place: None, read: None, written: None, rf: None };
        let mut answers = vec![0];
        match (access(program, step), step) {
            (_, Step::Choose { n }) => {
                event.kind = Kind::Choice;
                answers = (0..Value::from(n)).collect();
            }
            (Access::None, _) => {}
            (Access::Read(place), _) => {
                let (value, source) = self.memory[place as usize];
                event = KeyEvent {
                    kind: Kind::Read,
                    place: Some(place),
                    read: Some(value),
                    rf: Some(source),
                    ..event
                };
                answers = vec![value];
            }
            (Access::Write(place, value), _) => {
                event = KeyEvent { kind: Kind::Write, place: Some(place), written: Some(value), ..event };
            }
            (Access::Update(place, new), _) => {
                let (value, source) = self.memory[place as usize];
                let written = new(value);
                let kind = if written.is_some() { Kind::Update } else { Kind::Read };
                event = KeyEvent { kind, place: Some(place), read: Some(value), written, rf: Some(source) };
                let answer = if matches!(step, Step::TryLock { .. }) { (value == 0).into() } else { value };
                answers = vec![answer];
            }
        }
        for answer in answers {
            let (mut key, mut state) = (key.clone(), self.clone());
            if event.kind == Kind::Choice {
                event.read = Some(answer);
            }
            let at = EventAt { thread: thread as u16, index: key.threads[thread].len() as u16 };
            if let (Some(place), Some(value)) = (event.place, event.written) {
                state.memory[place as usize] = (value, Source::Event(at));
                key.mo[place as usize].push(at);
            }
            key.threads[thread].push(event);
            state.machines[thread].advance(answer);
            reached(key, state);
        }
    }
}

/// What the orders of a graph's events contain besides `po` and `rf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Nothing.
    ReadsFrom,
    /// `mo`, and `fr` from read-modify-writes; and what is sequentially consistent takes effect in order: if a
    /// read sees less than a write, then the read, or the fences before it, come before the write, or
    /// the fences after it.
    Writes,
    /// `mo` and `fr`.
    Memory,
}

/// The fewest preemptions over all such orders of a graph's events, if there is one. Spurious failures are
/// not known here.
pub fn fewest(program: &Program, key: &Key, order: Order) -> Option<u32> {
    let waits = waits(program, key);
    let pairs = seqcst_pairs(program, key);
    let is_rmw = read_modify_writes(program, key);
    let start = vec![0; key.threads.len()];
    let mut layer = BTreeMap::from([((start, usize::MAX), 0)]);
    loop {
        let mut next: BTreeMap<(Vec<usize>, usize), u32> = BTreeMap::new();
        for ((at, last), cost) in &layer {
            let newest = |place: u16| {
                let order = key.mo[place as usize].iter().rev();
                order.copied().find(|write| at[write.thread as usize] > write.index as usize)
            };
            let taken = |place: u16| {
                newest(place).is_some_and(|write| {
                    key.threads[write.thread as usize][write.index as usize].written == Some(1)
                })
            };
            for thread in 0..at.len() {
                let Some(event) = key.threads[thread].get(at[thread]) else { continue };
                let place = event.place.unwrap_or(0);
                let source = match event.rf {
                    Some(Source::Event(write)) => Some(write),
                    _ => None,
                };
                let seen = match source {
                    Some(write) => at[write.thread as usize] > write.index as usize,
                    None => true,
                };
                let current = event.rf.is_none() || newest(place) == source;
                let own = EventAt { thread: thread as u16, index: at[thread] as u16 };
                let in_order = event.written.is_none() || {
                    let order = &key.mo[place as usize];
                    let before = order.iter().position(|&write| write == own).unwrap_or(0);
                    newest(place) == before.checked_sub(1).map(|before| order[before])
                };
                let is_done = |id: &EventAt| at[id.thread as usize] > id.index as usize;
                // `fr` is kept by itself: a read that is left behind can never be current again.
                let keeps = match order {
                    Order::ReadsFrom => true,
                    Order::Writes => {
                        let earlier = |(first, second): &(EventAt, EventAt)| *second != own || is_done(first);
                        in_order && (current || !is_rmw[thread][at[thread]]) && pairs.iter().all(earlier)
                    }
                    Order::Memory => current && in_order,
                };
                if !seen || !keeps {
                    continue;
                }
                let leaves = *last != usize::MAX && *last != thread;
                let goes_on = leaves && {
                    let at = at[*last];
                    let over = at == key.threads[*last].len() && waits[*last][at].is_none();
                    !over && !waits[*last][at].is_some_and(taken)
                };
                let mut then = at.clone();
                then[thread] += 1;
                let cost = cost + u32::from(goes_on);
                let known = next.entry((then, thread)).or_insert(cost);
                *known = cost.min(*known);
            }
        }
        if next.is_empty() {
            let lens: Vec<usize> = key.threads.iter().map(Vec::len).collect();
            return layer.into_iter().filter(|((at, _), _)| *at == lens).map(|(_, cost)| cost).min();
        }
        layer = next;
    }
}

/// For each thread and each of its events, and for its end: the word it waits for there.
fn waits(program: &Program, key: &Key) -> Vec<Vec<Option<u16>>> {
    steps(program, key, |step| match step {
        Step::Lock { lock } => Some(program.lock_place(lock)),
        _ => None,
    })
}

/// For each thread and each of its events: whether it is a read-modify-write, though it may not write.
fn read_modify_writes(program: &Program, key: &Key) -> Vec<Vec<bool>> {
    steps(program, key, |step| matches!(access(program, step), Access::Update(..)))
}

/// Pairs of sequentially consistent events of which the first must come before the second.
fn seqcst_pairs(program: &Program, key: &Key) -> Vec<(EventAt, EventAt)> {
    let fences = steps(program, key, |step| matches!(step, Step::Fence { mode } if mode == Mode::SeqCst));
    let accesses = steps(program, key, |step| match step {
        Step::Load { mode, .. }
        | Step::Store { mode, .. }
        | Step::FetchAdd { mode, .. }
        | Step::Exchange { mode, .. }
        | Step::Cas { success: mode, .. } => mode == Mode::SeqCst,
        _ => false,
    });
    let all = |thread: usize| {
        let of = move |index: usize| EventAt { thread: thread as u16, index: index as u16 };
        fences[thread].iter().enumerate().filter(|(_, is)| **is).map(move |(index, _)| of(index))
    };
    let own = |at: EventAt| accesses[at.thread as usize][at.index as usize].then_some(at);
    let mut pairs = Vec::new();
    for (thread, events) in key.threads.iter().enumerate() {
        for (index, event) in events.iter().enumerate() {
            let (Some(place), Some(source)) = (event.place, event.rf) else { continue };
            let order = &key.mo[place as usize];
            let seen = order.iter().position(|&write| Source::Event(write) == source);
            for write in &order[seen.map_or(0, |seen| seen + 1)..] {
                let read = EventAt { thread: thread as u16, index: index as u16 };
                let known = all(thread).filter(|fence| (fence.index as usize) < index);
                for first in known.chain(own(read)) {
                    let after = all(write.thread as usize).filter(|fence| fence.index > write.index);
                    let after = after.chain(own(*write));
                    pairs.extend(after.filter(|&second| second != first).map(|second| (first, second)));
                }
            }
        }
    }
    pairs
}

/// Something of each step of each thread, and of the one that comes after its last event.
fn steps<T>(program: &Program, key: &Key, of: impl Fn(Step) -> T) -> Vec<Vec<T>> {
    let machines = program.compile().into_iter().map(Machine::new);
    let threads = machines.zip(&key.threads).map(|(mut machine, events)| {
        let mut found = Vec::new();
        for event in events {
            let step = machine.current();
            found.push(of(step));
            let read = event.read.unwrap_or(0);
            machine.advance(if matches!(step, Step::TryLock { .. }) { (read == 0).into() } else { read });
        }
        found.push(of(machine.current()));
        found
    });
    threads.collect()
}
