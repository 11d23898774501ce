//! Preemptions: how often a thread must be stopped that could go on, to get a given graph.
//!
//! A linearisation of a graph is a total order of its events that contains program order, spawns,
//! joins, and what the memory model's [`Linear`] names. Between two neighbours of different
//! threads there is a switch. It is free if the thread that is left cannot go on there:
//!
//! - it has no further event in the graph, and does not wait for a value either;
//! - its next event takes a lock or waits for a signal, and of the events before the switch the
//!   newest write to that location in coherence order is [`TAKEN`]; the same holds for a thread
//!   that is stuck before such an op at the end of the execution;
//! - its next event joins a thread of which not all events are before the switch.
//!
//! Otherwise it is a preemption, also if the next event must come later only because of what it
//! reads. The count of a graph is the fewest preemptions over its linearisations. A prefix of a
//! graph in `po ∪ rf` has no higher count than the graph, as long as nobody is known to be stuck.
//!
//! The question is only whether the count is at most some number. It is answered by a search for a
//! linearisation, which is made of blocks: a thread is picked and runs. Two rules keep it small.
//! Both hold since an event can be moved forward past events of others, once all that must be before
//! it is there, and no switch gets dearer by that unless the event frees a lock:
//!
//! - a thread runs on while it can; only before an event that frees a lock may it be stopped;
//! - a block that frees no lock and ends in a free switch is taken at once, without alternatives.
//!
//! So without locks there are at most `threads` alternatives for each preemption. States that were
//! met before are not searched again.

use unpick_core::clock::knows;
use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::memory::Linear;
use unpick_core::op::{Addr, Kind, TAKEN, ThreadId, Value};
use unpick_core::strategy::LockWaiter;

/// States of one search at most; beyond that the answer is that the count may be within the limit.
const MOST_STATES: usize = 1 << 17;

/// No step, no location, no place.
const NONE: u32 = u32::MAX;

/// An event, as far as switches depend on it.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The step that must come before, in another thread: the source of a read, the end of a
    /// joined thread.
    after: u32,
    /// The thread of that step.
    after_thread: u32,
    /// The location, or [`NONE`].
    addr: u32,
    /// The place in coherence order of what is read, or [`NONE`].
    reads: u32,
    /// The place in coherence order of what is written, or [`NONE`].
    writes: u32,
    /// Whether a thread waits before it while the location is taken.
    waits: bool,
    joins: bool,
}

impl Step {
    /// A step that nothing depends on.
    const IDLE: Step = Step {
        after: NONE,
        after_thread: 0,
        addr: NONE,
        reads: NONE,
        writes: NONE,
        waits: false,
        joins: false,
    };
}

/// What is left to try: undo the steps after `done`, and go on as `turn` says.
#[derive(Clone, Copy, Debug)]
struct Alternative {
    done: u32,
    budget: u32,
    turn: Turn,
}

#[derive(Clone, Copy, Debug)]
enum Turn {
    /// A thread has been left, and the price is paid.
    Settle,
    /// Pick a thread from this one on.
    Pick(u32),
}

/// Counts preemptions, in buffers that are used again.
#[derive(Debug, Default)]
pub struct Preemptions {
    steps: Vec<Step>,
    /// The first step of each thread; one more for the end.
    starts: Vec<u32>,
    /// The step that spawned each thread, and the thread of that.
    spawns: Vec<(u32, u32)>,
    /// Where each thread waits that is stuck.
    stuck: Vec<u32>,
    /// The first place of each location; places of all locations are numbered through.
    places: Vec<u32>,
    /// The value at each place.
    values: Vec<Value>,
    /// How many reads of each place are still to come.
    unread: Vec<u32>,
    /// Whether somebody may wait for a value of the location.
    waited: Vec<bool>,
    /// The next step of each thread.
    at: Vec<u32>,
    /// The newest place of each location.
    newest: Vec<u32>,
    /// The steps taken: thread, and what was newest at the location before.
    trail: Vec<(u32, u32)>,
    alternatives: Vec<Alternative>,
    memory: bool,
    seen: Seen,
}

impl Preemptions {
    /// Whether the count of the part of the graph with the first `lens[t]` events of each thread is at
    /// most `limit`. The part is closed under `porf`. `stuck` are the threads that wait for a value
    /// at the end of the execution.
    pub fn within(
        &mut self,
        graph: &Graph,
        lens: &[u32],
        linear: Linear,
        stuck: &[LockWaiter],
        limit: u32,
    ) -> bool {
        self.load(graph, lens, linear, stuck);
        self.search(limit)
    }

    // ---------------------------------------------------------------- the graph

    fn load(&mut self, graph: &Graph, lens: &[u32], linear: Linear, stuck: &[LockWaiter]) {
        self.memory = linear == Linear::Memory;
        self.starts.clear();
        let mut start = 0;
        for &len in &lens[..graph.thread_count()] {
            self.starts.push(start);
            start += len;
        }
        self.starts.push(start);
        self.load_writes(graph, lens);
        self.unread.clear();
        self.unread.resize(self.values.len(), 0);
        self.waited.clear();
        self.waited.resize(graph.location_count(), false);
        self.spawns.clear();
        for (t, &len) in lens[..graph.thread_count()].iter().enumerate() {
            self.load_thread(graph, ThreadId(t as u32), len as usize);
        }
        self.stuck.clear();
        self.stuck.resize(graph.thread_count(), NONE);
        for waiter in stuck {
            self.stuck[waiter.thread.index()] = waiter.addr.0;
            self.waited[waiter.addr.index()] = true;
        }
        self.at.clear();
        self.at.extend_from_slice(&self.starts[..graph.thread_count()]);
        self.newest.clear();
        self.newest.extend_from_slice(&self.places[..graph.location_count()]);
        self.trail.clear();
    }

    /// Numbers the places of all locations.
    fn load_writes(&mut self, graph: &Graph, lens: &[u32]) {
        self.steps.clear();
        self.steps.resize(self.starts[graph.thread_count()] as usize, Step::IDLE);
        self.places.clear();
        self.values.clear();
        for location in 0..graph.location_count() {
            let addr = Addr(location as u32);
            self.places.push(self.values.len() as u32);
            self.values.push(graph.location(addr).init);
            for &write in graph.writes(addr) {
                if knows(lens, write) {
                    let step = self.step_of(write) as usize;
                    self.steps[step].writes = self.values.len() as u32;
                    self.values.push(graph.event(write).value);
                }
            }
        }
    }

    fn load_thread(&mut self, graph: &Graph, thread: ThreadId, len: usize) {
        let spawn = graph.spawn_of(thread).map(|spawn| (self.step_of(spawn), spawn.thread.0));
        self.spawns.push(spawn.unwrap_or((NONE, 0)));
        let start = self.starts[thread.index()] as usize;
        for (index, event) in graph.thread(thread)[..len].iter().enumerate() {
            match event.kind {
                Kind::Read => {
                    let (place, after) = if event.rf.is_init() {
                        (self.places[event.addr.index()], NONE)
                    } else {
                        let source = self.step_of(event.rf);
                        (self.steps[source as usize].writes, source)
                    };
                    self.unread[place as usize] += 1;
                    self.waited[event.addr.index()] |= event.rmw.may_wait();
                    let step = &mut self.steps[start + index];
                    step.addr = event.addr.0;
                    step.reads = place;
                    (step.after, step.after_thread) = (after, event.rf.thread.0);
                    step.waits = event.rmw.may_wait();
                }
                Kind::Write => self.steps[start + index].addr = event.addr.0,
                Kind::Join => {
                    let child = event.value as usize;
                    let step = &mut self.steps[start + index];
                    step.joins = true;
                    (step.after, step.after_thread) = (self.starts[child + 1] - 1, child as u32);
                }
                Kind::Fence | Kind::Spawn | Kind::Finish | Kind::Choice => {}
            }
        }
    }

    fn step_of(&self, event: EventId) -> u32 {
        self.starts[event.thread.index()] + event.index
    }

    // ---------------------------------------------------------------- steps

    /// The next step of a thread, if all is there that must be before it.
    #[inline]
    fn executable(&self, thread: usize) -> Option<Step> {
        let at = self.at[thread];
        if at == self.starts[thread + 1] {
            return None;
        }
        let (spawn, spawner) = self.spawns[thread];
        if at == self.starts[thread] && spawn != NONE && self.at[spawner as usize] <= spawn {
            return None;
        }
        let step = self.steps[at as usize];
        if step.after != NONE && self.at[step.after_thread as usize] <= step.after {
            return None;
        }
        if self.memory && step.addr != NONE {
            let newest = self.newest[step.addr as usize];
            if step.reads != NONE && step.reads != newest {
                return None;
            }
            let own = u32::from(step.reads != NONE);
            if step.writes != NONE && (step.writes != newest + 1 || self.unread[newest as usize] > own) {
                return None;
            }
        }
        Some(step)
    }

    #[inline]
    fn take(&mut self, thread: usize, step: Step) {
        let mut before = NONE;
        if step.writes != NONE {
            let newest = &mut self.newest[step.addr as usize];
            before = *newest;
            *newest = before.max(step.writes);
        }
        if step.reads != NONE {
            self.unread[step.reads as usize] -= 1;
        }
        self.at[thread] += 1;
        self.trail.push((thread as u32, before));
    }

    /// Takes back all steps but the first `done`.
    fn undo(&mut self, done: usize) {
        while self.trail.len() > done {
            let Some((thread, before)) = self.trail.pop() else { return };
            self.at[thread as usize] -= 1;
            let step = self.steps[self.at[thread as usize] as usize];
            if step.reads != NONE {
                self.unread[step.reads as usize] += 1;
            }
            if before != NONE {
                self.newest[step.addr as usize] = before;
            }
        }
    }

    fn is_taken(&self, addr: u32) -> bool {
        self.values[self.newest[addr as usize] as usize] == TAKEN
    }

    /// Whether the step lets others go on who wait for the location.
    #[inline]
    fn frees(&self, step: Step) -> bool {
        step.writes != NONE
            && self.waited[step.addr as usize]
            && self.values[step.writes as usize] != TAKEN
            && self.is_taken(step.addr)
    }

    /// What it costs to leave a thread where it stands.
    fn price(&self, thread: usize) -> u32 {
        let at = self.at[thread];
        let free = if at == self.starts[thread + 1] {
            let addr = self.stuck[thread];
            addr == NONE || self.is_taken(addr)
        } else {
            let step = self.steps[at as usize];
            let unfinished = step.joins && self.at[step.after_thread as usize] <= step.after;
            unfinished || (step.waits && self.is_taken(step.addr))
        };
        u32::from(!free)
    }

    // ---------------------------------------------------------------- search

    fn search(&mut self, limit: u32) -> bool {
        self.alternatives.clear();
        self.seen.clear(self.at.len());
        let (mut budget, mut turn) = (limit, Turn::Settle);
        loop {
            let next = match turn {
                Turn::Settle => self.settle(budget),
                Turn::Pick(from) => self.run(budget, from as usize),
            };
            if self.trail.len() == self.steps.len() || self.seen.len() > MOST_STATES {
                return true;
            }
            match next {
                Some((left, then)) => (budget, turn) = (left, then),
                None => {
                    let Some(alternative) = self.alternatives.pop() else { return false };
                    self.undo(alternative.done as usize);
                    (budget, turn) = (alternative.budget, alternative.turn);
                }
            }
        }
    }

    /// Takes all blocks that cost nothing; nothing is left to do where the search was before.
    fn settle(&mut self, budget: u32) -> Option<(u32, Turn)> {
        let threads = self.at.len();
        let mut idle = 0;
        let mut thread = 0;
        while idle < threads {
            idle = if self.run_freely(thread) { 0 } else { idle + 1 };
            thread = (thread + 1) % threads;
        }
        self.seen.insert(&self.at, budget).then_some((budget, Turn::Pick(0)))
    }

    /// Runs a thread if that frees no lock and ends in a free switch; whether it moved.
    fn run_freely(&mut self, thread: usize) -> bool {
        let done = self.trail.len();
        while let Some(step) = self.executable(thread) {
            if self.frees(step) {
                self.undo(done);
                return false;
            }
            self.take(thread, step);
        }
        let moved = self.trail.len() > done;
        if moved && self.price(thread) > 0 {
            self.undo(done);
            return false;
        }
        moved
    }

    /// Runs the first thread from `from` on that can move.
    fn run(&mut self, budget: u32, from: usize) -> Option<(u32, Turn)> {
        let thread = (from..self.at.len()).find(|&thread| self.executable(thread).is_some())?;
        let done = self.trail.len();
        self.alternatives.push(Alternative {
            done: done as u32,
            budget,
            turn: Turn::Pick(thread as u32 + 1),
        });
        while let Some(step) = self.executable(thread) {
            if budget > 0 && self.trail.len() > done && self.frees(step) {
                let done = self.trail.len() as u32;
                self.alternatives.push(Alternative { done, budget: budget - 1, turn: Turn::Settle });
            }
            self.take(thread, step);
        }
        budget.checked_sub(self.price(thread)).map(|left| (left, Turn::Settle))
    }
}

/// The states that a search has met, each with the most that was left to spend there.
#[derive(Debug, Default)]
struct Seen {
    /// The positions of all threads, and the budget, for one state after the other.
    states: Vec<u32>,
    width: usize,
    /// Numbers of states, by their hashes; 0 is empty.
    table: Vec<u32>,
}

impl Seen {
    fn clear(&mut self, threads: usize) {
        self.width = threads + 1;
        self.states.clear();
        self.table.clear();
        self.table.resize(64, 0);
    }

    fn len(&self) -> usize {
        self.states.len() / self.width
    }

    /// Adds a state; `false` if it was there with at least as much to spend.
    fn insert(&mut self, at: &[u32], budget: u32) -> bool {
        if self.table.len() < 2 * (self.len() + 1) {
            self.grow();
        }
        let slot = self.slot(at);
        if self.table[slot] == 0 {
            self.states.extend_from_slice(at);
            self.states.push(budget);
            self.table[slot] = self.len() as u32;
            return true;
        }
        let known = &mut self.states[self.table[slot] as usize * self.width - 1];
        let more = *known < budget;
        *known = budget.max(*known);
        more
    }

    fn grow(&mut self) {
        let size = 2 * self.table.len();
        self.table.clear();
        self.table.resize(size, 0);
        for number in 1..=self.len() {
            let start = (number - 1) * self.width;
            let slot = self.slot(&self.states[start..start + self.width - 1]);
            self.table[slot] = number as u32;
        }
    }

    /// Where the state is, or where it goes.
    fn slot(&self, at: &[u32]) -> usize {
        let mix = |hash: u64, &position: &u32| {
            (hash ^ u64::from(position)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        };
        let mask = self.table.len() - 1;
        let mut slot = at.iter().fold(0, mix) as usize & mask;
        while self.table[slot] != 0 {
            let start = (self.table[slot] as usize - 1) * self.width;
            if self.states[start..start + at.len()] == *at {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }
}
