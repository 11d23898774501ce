//! Every order in which the steps of a small program can be taken under sequential consistency, by
//! brute force.
//!
//! A step is an access to a location or a lock. Fences and choices are no steps of their own: no other
//! thread can tell when they happen, so they happen at once. A preemption is a change of thread where
//! the thread that moved last could go on. The rule: nothing is left out, and nothing is shared with
//! the strategies that this judges.

use std::collections::BTreeMap;

use crate::key::{EventAt, Key, KeyEvent, Kind, Source};
use crate::program::{Mode, Program, Value};
use crate::{Machine, Step, TooLarge};

/// What brute force has found.
#[derive(Clone, Debug, Default)]
pub struct Orders {
    /// Orders by the number of their preemptions.
    pub orders: BTreeMap<u32, u64>,
    /// Graphs, and the fewest preemptions that lead to each.
    pub graphs: BTreeMap<Key, u32>,
    /// Whether two threads can stand before accesses to one location of which one is a write and one
    /// is plain.
    pub races: bool,
}

impl Orders {
    /// How many orders have at most so many preemptions.
    pub fn within(&self, bound: u32) -> u64 {
        self.orders.range(..=bound).map(|(_, count)| count).sum()
    }

    /// The graphs that at most so many preemptions lead to.
    pub fn graphs_within(&self, bound: u32) -> impl Iterator<Item = &Key> {
        self.graphs.iter().filter(move |(_, preemptions)| **preemptions <= bound).map(|(key, _)| key)
    }
}

/// All orders of a program.
///
/// # Errors
///
/// When there are more than `most`.
pub fn orders(program: &Program, spurious: bool, most: u64) -> Result<Orders, TooLarge> {
    let state = State {
        machines: program.compile().into_iter().map(Machine::new).collect(),
        values: (0..program.places()).map(|place| program.initial(place as u16)).collect(),
        key: Key { threads: vec![Vec::new(); program.threads.len()], mo: vec![Vec::new(); program.places()] },
    };
    let mut walk = Walk { program, spurious, left: most, found: Orders::default() };
    walk.go(&state, None, 0)?;
    Ok(walk.found)
}

#[derive(Clone)]
struct State {
    machines: Vec<Machine>,
    values: Vec<Value>,
    key: Key,
}

/// What a step would do.
struct Effect {
    place: usize,
    writes: bool,
    plain: bool,
    enabled: bool,
}

struct Walk<'p> {
    program: &'p Program,
    spurious: bool,
    left: u64,
    found: Orders,
}

impl Walk<'_> {
    fn go(&mut self, state: &State, last: Option<usize>, preemptions: u32) -> Result<(), TooLarge> {
        for (t, machine) in state.machines.iter().enumerate() {
            let ways = match machine.current() {
                Step::Fence { .. } => 1,
                Step::Choose { n } => n,
                _ => continue,
            };
            for way in 0..ways {
                let mut next = state.clone();
                next.silent(t, way.into());
                self.go(&next, last, preemptions)?;
            }
            return Ok(());
        }
        let effects: Vec<Option<Effect>> =
            (0..state.machines.len()).map(|t| state.effect(self.program, t)).collect();
        let can_move = |t: usize| effects[t].as_ref().is_some_and(|effect| effect.enabled);
        for (t, a) in effects.iter().enumerate() {
            for b in effects[t + 1..].iter().flatten() {
                self.found.races |= a
                    .as_ref()
                    .is_some_and(|a| a.place == b.place && (a.writes || b.writes) && (a.plain || b.plain));
            }
        }
        let mut ended = true;
        for t in (0..state.machines.len()).filter(|&t| can_move(t)) {
            ended = false;
            let preempts = last.is_some_and(|last| last != t && can_move(last));
            let weak = matches!(state.machines[t].current(), Step::Cas { weak: true, .. });
            let writes = effects[t].as_ref().is_some_and(|effect| effect.writes);
            for fails in [false, true] {
                if fails && !(self.spurious && weak && writes) {
                    continue;
                }
                let mut next = state.clone();
                next.step(self.program, t, fails);
                self.go(&next, Some(t), preemptions + u32::from(preempts))?;
            }
        }
        if ended {
            self.left = self.left.checked_sub(1).ok_or(TooLarge)?;
            *self.found.orders.entry(preemptions).or_default() += 1;
            let fewest = self.found.graphs.entry(state.key.clone()).or_insert(preemptions);
            *fewest = preemptions.min(*fewest);
        }
        Ok(())
    }
}

impl State {
    fn silent(&mut self, t: usize, value: Value) {
        let (kind, read) = match self.machines[t].current() {
            Step::Choose { .. } => (Kind::Choice, Some(value)),
            _ => (Kind::Fence, None),
        };
        self.key.threads[t].push(KeyEvent { kind, place: None, read, written: None, rf: None });
        self.machines[t].advance(value);
    }

    /// What the next step of a thread would do; nothing if there is none.
    fn effect(&self, program: &Program, t: usize) -> Option<Effect> {
        let lock = |lock| usize::from(program.lock_place(lock));
        let step = self.machines[t].current();
        let place = match step {
            Step::Load { loc, .. }
            | Step::Store { loc, .. }
            | Step::FetchAdd { loc, .. }
            | Step::Exchange { loc, .. }
            | Step::Cas { loc, .. } => usize::from(loc.0),
            Step::Lock { lock: l } | Step::Unlock { lock: l } | Step::Post { lock: l } => lock(l),
            Step::TryLock { lock: l } => lock(l),
            Step::Fence { .. } | Step::Choose { .. } | Step::Blocked | Step::Done => return None,
        };
        let value = self.values[place];
        let writes = match step {
            Step::Load { .. } => false,
            Step::Cas { expected, .. } => value == expected,
            Step::TryLock { .. } => value == 0,
            _ => true,
        };
        let plain =
            matches!(step, Step::Load { mode: Mode::Plain, .. } | Step::Store { mode: Mode::Plain, .. });
        let enabled = !(matches!(step, Step::Lock { .. }) && value != 0);
        Some(Effect { place, writes, plain, enabled })
    }

    fn step(&mut self, program: &Program, t: usize, fails: bool) {
        let Some(effect) = self.effect(program, t) else { return };
        let step = self.machines[t].current();
        let (place, old) = (effect.place, self.values[effect.place]);
        let at = EventAt { thread: t as u16, index: self.key.threads[t].len() as u16 };
        let source = self.key.mo[place].last().map_or(Source::Init, |&write| Source::Event(write));
        let new = match step {
            Step::Store { value, .. } | Step::Exchange { value, .. } => value,
            Step::FetchAdd { operand, .. } => old.wrapping_add(operand),
            Step::Cas { new, .. } => new,
            Step::Lock { .. } | Step::TryLock { .. } => 1,
            _ => 0,
        };
        let writes = effect.writes && !fails;
        let reads = !matches!(step, Step::Store { .. } | Step::Unlock { .. });
        let kind = match (reads, writes) {
            (true, true) => Kind::Update,
            (true, false) => Kind::Read,
            _ => Kind::Write,
        };
        self.key.threads[t].push(KeyEvent {
            kind,
            place: Some(place as u16),
            read: reads.then_some(old),
            written: writes.then_some(new),
            rf: reads.then_some(source),
        });
        if writes {
            self.values[place] = new;
            self.key.mo[place].push(at);
        }
        match step {
            Step::TryLock { .. } => self.machines[t].advance(i64::from(old == 0)),
            Step::Cas { .. } if fails => self.machines[t].advance_spurious(old),
            _ => self.machines[t].advance(old),
        }
    }
}
