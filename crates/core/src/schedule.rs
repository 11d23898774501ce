//! Schedules: one execution as the list of its choices, and its text form.
//!
//! A schedule is a linear order of the events of a graph that extends `po ∪ rf`, and, for every
//! event that did not do the obvious (read the newest write so far, go last, choose 0), what it
//! did. It names no address and no place in memory, so it can be replayed in another process.
//!
//! The text form is `u1` (the version), then base 64 with `-` and `_`: a fingerprint of the
//! program, the memory model, what was known, the runs of threads, and the deviations. A text of
//! another version or of another program is refused.

use std::fmt;

use crate::event::{Event, EventId};
use crate::execution::Turn;
use crate::graph::Graph;
use crate::op::{Addr, Kind, ThreadId};

/// What an event did instead of the obvious.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The obvious.
    Default,
    /// A read saw the write this far before the newest.
    Back(u32),
    /// A weak exchange failed without a reason, seeing the write this far before the newest.
    Spurious(u32),
    /// A write went this far before the end.
    Before(u32),
    /// A choice was decided so.
    Value(u64),
}

/// One step of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The thread, numbered in the order in which threads are spawned here.
    pub thread: ThreadId,
    /// What it did.
    pub choice: Choice,
}

/// An execution as the list of its choices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The steps.
    pub steps: Vec<Step>,
    /// A fingerprint of the operations.
    pub fingerprint: u32,
    /// The memory model, as a number that front-ends give it.
    pub model: u8,
    /// What was known when the execution was found.
    pub known: Knowledge,
    /// After how many steps the graph lets go of older events.
    pub lines: Vec<u32>,
    /// Until when threads are late, if they are.
    pub moment: Option<Moment>,
}

/// What a thread does between two ops. Until it has, the others stop behind the ops that they have had, instead of running on to
/// their next ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// After how many steps.
    pub steps: u32,
    /// The thread, numbered as in steps.
    pub thread: ThreadId,
}

/// What a program under test depends on besides the answers to its ops.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Knowledge {
    /// Facts about the program, as bits that front-ends give a meaning. Zeros at the end are left out.
    pub facts: Vec<u64>,
    /// What the threads were called in the exploration, in the order in which they are spawned here;
    /// empty when that is the same.
    pub threads: Vec<u32>,
}

const VERSION: &str = "u1";

/// Added to the number of the memory model when the schedule says what was known.
const KNOWS: u8 = 0x80;

/// Added to it when the graph lets go of older events.
const COMPACTED: u8 = 0x40;

/// Added to it when threads are late.
const LATE: u8 = 0x20;

/// Why a text is not a schedule that can be replayed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Malformed {
    /// It is of another version.
    Version,
    /// It is damaged.
    Damaged,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Malformed::Version => {
                "it was made by another version of unpick, whose schedules this version cannot read; \
                 run the check again to get a new one"
            }
            Malformed::Damaged => "it is no schedule, or a damaged one; copy the whole token from the report",
        })
    }
}

impl Schedule {
    /// The schedule of a graph whose events are taken in this order.
    pub fn new(graph: &Graph, order: &[EventId], model: u8) -> Schedule {
        let names = names(graph, order);
        let mut taken: Vec<Vec<EventId>> = vec![Vec::new(); graph.location_count()];
        let mut steps = steps(graph, order, &mut taken);
        steps.iter_mut().for_each(|step| step.thread = names[step.thread.index()]);
        let known = Knowledge { facts: Vec::new(), threads: originals(&names, order, graph) };
        Schedule {
            steps,
            fingerprint: fingerprint(graph, order),
            model,
            known,
            lines: Vec::new(),
            moment: None,
        }
    }

    /// The schedule of those events of a graph that come before a turn, and then of the others among the first `lens[t]` of each thread,
    /// which must be closed under `porf`.
    pub fn of_turn(graph: &Graph, turn: &Turn, lens: &[u32], model: u8) -> Schedule {
        let mut order = linearise(graph, &turn.lens);
        let steps = order.len() as u32;
        let is_later = |id: &EventId| id.index >= turn.len_of(id.thread);
        order.extend(linearise(graph, lens).into_iter().filter(is_later));
        let thread = names(graph, &order)[turn.thread.index()];
        Schedule { moment: Some(Moment { steps, thread }), ..Schedule::new(graph, &order, model) }
    }

    /// The schedule of a graph that has let go of older events: all of its steps, in their order.
    pub fn of_compacted(graph: &Graph, model: u8) -> Schedule {
        let (mut steps, spawned) = graph.steps();
        let mut names = vec![ThreadId::MAIN; graph.thread_count()];
        for (index, thread) in spawned.iter().enumerate() {
            names[thread.index()] = ThreadId(index as u32 + 1);
        }
        steps.iter_mut().for_each(|step| step.thread = names[step.thread.index()]);
        let renamed = spawned.iter().any(|thread| names[thread.index()] != *thread);
        let threads = std::iter::once(0).chain(spawned.iter().map(|thread| thread.0));
        let threads = if renamed { threads.collect() } else { Vec::new() };
        let known = Knowledge { facts: Vec::new(), threads };
        let fingerprint = fingerprint(graph, graph.order());
        Schedule { steps, fingerprint, model, known, lines: graph.lines().to_vec(), moment: None }
    }

    /// The same schedule, with what was known when it was found.
    #[must_use]
    pub fn with_facts(mut self, facts: &[u64]) -> Schedule {
        let count = facts.iter().rposition(|&bits| bits != 0).map_or(0, |last| last + 1);
        self.known.facts = facts[..count].to_vec();
        self
    }
}

/// What events that are taken in this order did, under the names that their threads have in the graph.
/// `taken` has the writes of each location so far, in coherence order.
pub(crate) fn steps(graph: &Graph, order: &[EventId], taken: &mut [Vec<EventId>]) -> Vec<Step> {
    let mut places = vec![0; graph.len()];
    for addr in (0..graph.location_count()).map(|index| Addr(index as u32)) {
        for (index, &write) in
            graph.writes(addr).iter().enumerate().filter(|(_, write)| !graph.is_past(**write))
        {
            places[graph.event(write).stamp as usize] = index + 1;
        }
    }
    let place = |write: EventId| match graph.is_past(write) {
        // What has been let go left the last write, if there was one.
        true => usize::from(!write.is_init()),
        false => places[graph.event(write).stamp as usize],
    };
    let step = |&id: &EventId| {
        let event = graph.event(id);
        let choice = match event.kind {
            Kind::Read | Kind::Write => choice_of(graph, id, &mut taken[event.addr.index()], place),
            Kind::Choice if event.value != 0 => Choice::Value(event.value),
            _ => Choice::Default,
        };
        Step { thread: id.thread, choice }
    };
    order.iter().map(step).collect()
}

/// What an access did, given the writes of its location so far in coherence order; adds it to them.
fn choice_of(
    graph: &Graph,
    id: EventId,
    taken: &mut Vec<EventId>,
    place: impl Fn(EventId) -> usize,
) -> Choice {
    let event = graph.event(id);
    let mut choice = Choice::Default;
    let after = |taken: &[EventId], place_of: usize| {
        (taken.len() - taken.partition_point(|&write| place(write) <= place_of)) as u32
    };
    if event.is_read() {
        let newer = after(taken, place(event.rf));
        if event.has(Event::SPURIOUS) {
            choice = Choice::Spurious(newer);
        } else if newer > 0 {
            choice = Choice::Back(newer);
        }
    }
    if event.is_write() {
        let later = after(taken, place(id));
        if later > 0 && !event.is_read() {
            choice = Choice::Before(later);
        }
        taken.insert(taken.len() - later as usize, id);
    }
    choice
}

/// Threads, renamed in the order in which they are spawned.
fn names(graph: &Graph, order: &[EventId]) -> Vec<ThreadId> {
    let mut names = vec![ThreadId::MAIN; graph.thread_count()];
    let spawns = order.iter().map(|&id| graph.event(id)).filter(|event| event.kind == Kind::Spawn);
    for (index, spawn) in spawns.enumerate() {
        names[spawn.value as usize] = ThreadId(index as u32 + 1);
    }
    names
}

/// What renamed threads were called before; empty when nothing was renamed.
fn originals(names: &[ThreadId], order: &[EventId], graph: &Graph) -> Vec<u32> {
    let spawns = order.iter().map(|&id| graph.event(id)).filter(|event| event.kind == Kind::Spawn);
    let threads: Vec<u32> = std::iter::once(0).chain(spawns.map(|spawn| spawn.value as u32)).collect();
    let renamed = threads.iter().any(|&thread| names[thread as usize].0 != thread);
    if renamed { threads } else { Vec::new() }
}

/// A hash of what the events are, without values: it tells programs apart.
pub fn fingerprint(graph: &Graph, order: &[EventId]) -> u32 {
    let names = names(graph, order);
    let mut addrs: Vec<Addr> = Vec::new();
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut mix = |number: u64| hash = (hash ^ number).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
    for &id in order {
        let event = graph.event(id);
        mix(u64::from(names[id.thread.index()].0) << 24
            | (event.kind as u64) << 16
            | (event.rmw as u64) << 8
            | event.mode as u64);
        if event.addr != Addr::NONE {
            let known = addrs.iter().position(|&addr| addr == event.addr);
            let number = known.unwrap_or_else(|| {
                addrs.push(event.addr);
                addrs.len() - 1
            });
            mix(number as u64);
        }
    }
    (hash ^ (hash >> 32)) as u32
}

/// The events in an order that extends `po ∪ rf`, with few changes of thread; only the first
/// `lens[t]` events of each thread, which must be closed under `porf`.
///
/// While there are few enough states the order has as few changes as can be; beyond that each
/// thread runs as long as it can.
pub fn linearise(graph: &Graph, lens: &[u32]) -> Vec<EventId> {
    let states = lens.iter().try_fold(lens.len(), |product, &len| product.checked_mul(len as usize + 1));
    match states {
        Some(states) if states <= 200_000 => shortest(graph, lens),
        _ => greedy(graph, lens),
    }
}

/// All events in the order in which they took effect: what threads share unseen is then as it was. If that does not extend
/// `po ∪ rf`, as [`linearise`] has them.
pub fn in_order(graph: &Graph) -> Vec<EventId> {
    let lens: Vec<u32> = graph.thread_lens().collect();
    let mut done = vec![0; lens.len()];
    let extends = graph.order().iter().all(|id| {
        let goes = done[id.thread.index()] == id.index && can_go(graph, &lens, &done, id.thread.index());
        done[id.thread.index()] += 1;
        goes
    });
    if extends && done == lens { graph.order().to_vec() } else { linearise(graph, &lens) }
}

/// Whether the next event of a thread can be taken when `done[t]` events of each have been.
fn can_go(graph: &Graph, lens: &[u32], done: &[u32], thread: usize) -> bool {
    if done[thread] >= lens[thread] {
        return false;
    }
    let id = ThreadId(thread as u32);
    if done[thread] == 0 && id != ThreadId::MAIN {
        let spawned = graph.spawn_of(id).is_some_and(|spawn| done[spawn.thread.index()] > spawn.index);
        if !spawned {
            return false;
        }
    }
    let event = &graph.thread(id)[done[thread] as usize];
    match event.kind {
        Kind::Read => event.rf.is_init() || done[event.rf.thread.index()] > event.rf.index,
        Kind::Join => {
            let child = ThreadId(event.value as u32);
            done[child.index()] as usize == graph.thread_len(child)
        }
        Kind::Choice if event.is_timeout() => graph.order()[..event.stamp as usize]
            .iter()
            .all(|before| done[before.thread.index()] > before.index),
        _ => true,
    }
}

fn greedy(graph: &Graph, lens: &[u32]) -> Vec<EventId> {
    let mut done = vec![0; lens.len()];
    let mut order = Vec::new();
    let run = |done: &mut Vec<u32>, thread: usize, order: &mut Vec<EventId>| {
        while can_go(graph, lens, done, thread) {
            order.push(EventId::new(ThreadId(thread as u32), done[thread] as usize));
            done[thread] += 1;
        }
    };
    loop {
        let runs = (0..lens.len()).map(|thread| {
            let mut done = done.clone();
            let mut order = Vec::new();
            run(&mut done, thread, &mut order);
            (order.len(), std::cmp::Reverse(thread))
        });
        match runs.max() {
            Some((length, std::cmp::Reverse(thread))) if length > 0 => run(&mut done, thread, &mut order),
            _ => return order,
        }
    }
}

/// Breadth-first search by number of changes; a state is how far each thread is, and who ran last.
fn shortest(graph: &Graph, lens: &[u32]) -> Vec<EventId> {
    let threads = lens.len();
    let code = |done: &[u32], last: usize| {
        let place =
            done.iter().zip(lens).fold(0, |code, (&at, &len)| code * (len as usize + 1) + at as usize);
        place * threads + last
    };
    let total = lens.iter().map(|&len| len as usize + 1).product::<usize>() * threads;
    const UNSEEN: u32 = u32::MAX;
    let mut came_from = vec![UNSEEN; total];
    let goal = |done: &[u32]| done == lens;
    let decode = |mut code: usize| {
        let last = code % threads;
        code /= threads;
        let mut done = vec![0; threads];
        for t in (0..threads).rev() {
            done[t] = (code % (lens[t] as usize + 1)) as u32;
            code /= lens[t] as usize + 1;
        }
        (done, last)
    };
    let mut layer: Vec<usize> = vec![code(&vec![0; threads], 0)];
    came_from[layer[0]] = layer[0] as u32;
    let mut last_state = None;
    while last_state.is_none() && !layer.is_empty() {
        // Within a layer the running thread goes on as far as it can; each stop may change threads.
        let mut next = Vec::new();
        let mut todo = std::mem::take(&mut layer);
        while let Some(state) = todo.pop() {
            let (mut done, last) = decode(state);
            if goal(&done) {
                last_state = Some(state);
                break;
            }
            for thread in 0..threads {
                if !can_go(graph, lens, &done, thread) {
                    continue;
                }
                done[thread] += 1;
                let reached = code(&done, thread);
                done[thread] -= 1;
                if came_from[reached] == UNSEEN {
                    came_from[reached] = state as u32;
                    if thread == last { todo.push(reached) } else { next.push(reached) }
                } else if thread == last && next.contains(&reached) {
                    came_from[reached] = state as u32;
                    next.retain(|&other| other != reached);
                    todo.push(reached);
                }
            }
        }
        layer = next;
    }
    let mut order = Vec::new();
    let mut state = last_state.expect("a graph has an order that extends po and rf");
    while came_from[state] as usize != state {
        let (done, last) = decode(state);
        order.push(EventId::new(ThreadId(last as u32), done[last] as usize - 1));
        state = came_from[state] as usize;
    }
    order.reverse();
    order
}

// ---------------------------------------------------------------- text form

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.fingerprint.to_le_bytes().to_vec();
        let knows = self.known != Knowledge::default();
        let compacted = if self.lines.is_empty() { 0 } else { COMPACTED };
        let late = if self.moment.is_some() { LATE } else { 0 };
        bytes.push(self.model | compacted | late | if knows { KNOWS } else { 0 });
        if knows {
            push(&mut bytes, self.known.facts.len() as u32);
            for &bits in &self.known.facts {
                push(&mut bytes, bits as u32);
                push(&mut bytes, (bits >> 32) as u32);
            }
            push(&mut bytes, self.known.threads.len() as u32);
            self.known.threads.iter().for_each(|&thread| push(&mut bytes, thread));
        }
        if !self.lines.is_empty() {
            push(&mut bytes, self.lines.len() as u32);
            self.lines.iter().for_each(|&line| push(&mut bytes, line));
        }
        if let Some(Moment { steps, thread }) = self.moment {
            push(&mut bytes, steps);
            push(&mut bytes, thread.0);
        }
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for step in &self.steps {
            match runs.last_mut() {
                Some((thread, count)) if *thread == step.thread.0 => *count += 1,
                _ => runs.push((step.thread.0, 1)),
            }
        }
        push(&mut bytes, runs.len() as u32);
        for (thread, count) in runs {
            // Most programs are small: four bits each.
            if thread < 15 && count < 16 {
                bytes.push((thread << 4 | count) as u8);
            } else {
                bytes.push(0xf0);
                push(&mut bytes, thread);
                push(&mut bytes, count);
            }
        }
        let mut since = 0u32;
        for step in &self.steps {
            let (kind, number) = match step.choice {
                Choice::Default => {
                    since += 1;
                    continue;
                }
                Choice::Back(number) => (0, number.into()),
                Choice::Spurious(number) => (1, number.into()),
                Choice::Before(number) => (2, number.into()),
                Choice::Value(number) => (3, u128::from(number)),
            };
            push(&mut bytes, since);
            push(&mut bytes, number << 2 | kind);
            since = 0;
        }
        f.write_str(VERSION)?;
        let check = bytes.iter().fold(0u8, |sum, &byte| sum.rotate_left(1) ^ byte);
        bytes.push(check);
        f.write_str(&base64(&bytes))
    }
}

impl std::str::FromStr for Schedule {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Schedule, Malformed> {
        let text = text.trim();
        let other = text.starts_with('u') && text[1..].starts_with(|c: char| c.is_ascii_digit());
        let unknown = if other { Malformed::Version } else { Malformed::Damaged };
        let rest = text.strip_prefix(VERSION).ok_or(unknown)?;
        let mut bytes = unbase64(rest).ok_or(Malformed::Damaged)?;
        let check = bytes.pop().ok_or(Malformed::Damaged)?;
        if bytes.iter().fold(0u8, |sum, &byte| sum.rotate_left(1) ^ byte) != check {
            return Err(Malformed::Damaged);
        }
        parse(&bytes).ok_or(Malformed::Damaged)
    }
}

fn parse(bytes: &[u8]) -> Option<Schedule> {
    let fingerprint = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
    let model = *bytes.get(4)?;
    let mut rest = &bytes[5..];
    let mut known = Knowledge::default();
    if model & KNOWS != 0 {
        for _ in 0..pull(&mut rest)? {
            known.facts.push(u64::from(pull(&mut rest)?) | u64::from(pull(&mut rest)?) << 32);
        }
        for _ in 0..pull(&mut rest)? {
            known.threads.push(pull(&mut rest)?);
        }
    }
    let mut lines = Vec::new();
    if model & COMPACTED != 0 {
        for _ in 0..pull(&mut rest)? {
            lines.push(pull(&mut rest)?);
        }
    }
    let mut moment = None;
    if model & LATE != 0 {
        moment = Some(Moment { steps: pull(&mut rest)?, thread: ThreadId(pull(&mut rest)?) });
    }
    let mut steps = Vec::new();
    for _ in 0..pull(&mut rest)? {
        let (&first, tail) = rest.split_first()?;
        rest = tail;
        let (thread, count) = match first {
            0xf0 => (pull(&mut rest)?, pull(&mut rest)?),
            packed => (u32::from(packed >> 4), u32::from(packed & 15)),
        };
        if count > 1 << 24 {
            return None;
        }
        steps.extend((0..count).map(|_| Step { thread: ThreadId(thread), choice: Choice::Default }));
    }
    let mut at = 0;
    while !rest.is_empty() {
        at += pull(&mut rest)? as usize;
        let coded = pull_wide(&mut rest)?;
        let (number, narrow) = (u64::try_from(coded >> 2).ok()?, u32::try_from(coded >> 2));
        steps.get_mut(at)?.choice = match coded & 3 {
            0 => Choice::Back(narrow.ok()?),
            1 => Choice::Spurious(narrow.ok()?),
            2 => Choice::Before(narrow.ok()?),
            _ => Choice::Value(number),
        };
        at += 1;
    }
    Some(Schedule { steps, fingerprint, model: model & !(KNOWS | COMPACTED | LATE), known, lines, moment })
}

/// Seven bits a byte, lowest first.
fn push(bytes: &mut Vec<u8>, number: impl Into<u128>) {
    let mut number = number.into();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn pull(bytes: &mut &[u8]) -> Option<u32> {
    u32::try_from(pull_wide(bytes)?).ok()
}

fn pull_wide(bytes: &mut &[u8]) -> Option<u128> {
    let mut number = 0;
    for shift in (0..70).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u128::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for digit in 0..=chunk.len() {
            text.push(DIGITS[(word >> (18 - 6 * digit) & 63) as usize] as char);
        }
    }
    text
}

fn unbase64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for chunk in text.as_bytes().chunks(4) {
        let mut word = 0u32;
        for &digit in chunk {
            word = word << 6 | DIGITS.iter().position(|&known| known == digit)? as u32;
        }
        if chunk.len() == 1 {
            return None;
        }
        word <<= 6 * (4 - chunk.len());
        bytes.extend_from_slice(&word.to_be_bytes()[1..chunk.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Schedule {
        let step = |thread, choice| Step { thread: ThreadId(thread), choice };
        Schedule {
            steps: vec![
                step(0, Choice::Default),
                step(0, Choice::Before(2)),
                step(300, Choice::Back(1)),
                step(1, Choice::Spurious(0)),
                step(1, Choice::Value(1000)),
                step(1, Choice::Value(u64::MAX)),
            ],
            fingerprint: 0xdead_beef,
            model: 3,
            known: Knowledge::default(),
            lines: Vec::new(),
            moment: None,
        }
    }

    #[test]
    fn the_text_form_can_be_read_back() {
        let text = sample().to_string();
        assert_eq!(text.parse(), Ok(sample()), "{text}");
        let mut knowing = sample().with_facts(&[0, 1 << 63 | 5, 0]);
        knowing.known.threads = vec![0, 2, 1, 300];
        assert_eq!(knowing.to_string().parse(), Ok(knowing.clone()));
        knowing.lines = vec![2, 4];
        knowing.moment = Some(Moment { steps: 200, thread: ThreadId(1) });
        assert_eq!(knowing.to_string().parse(), Ok(knowing));
    }

    #[test]
    fn a_damaged_text_is_refused() {
        let text = sample().to_string();
        assert_eq!("u9abc".parse::<Schedule>(), Err(Malformed::Version));
        assert_eq!("rubbish".parse::<Schedule>(), Err(Malformed::Damaged));
        assert_eq!(text[..text.len() - 2].parse::<Schedule>(), Err(Malformed::Damaged));
        let mut damaged = text.into_bytes();
        damaged[4] = if damaged[4] == b'A' { b'B' } else { b'A' };
        let damaged = String::from_utf8(damaged).expect("ASCII");
        assert_eq!(damaged.parse::<Schedule>(), Err(Malformed::Damaged));
    }
}
