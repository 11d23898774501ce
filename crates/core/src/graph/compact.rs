//! Letting go of older events, so that executions of any length fit into memory.
//!
//! From a line on, every location has only its coherence-last write for a source, and new writes go
//! after it. So no edge leads from a new event to an older one: whatever cycle a memory model looks
//! for lies among the new ones, and no outcome can arise that the model forbids. What is lost is weak
//! behaviour across the line: reads of anything staler, and writes placed further back.
//!
//! What stays of the older events:
//!
//! - of each location the last write, with its value and what it has published;
//! - of each thread the last event, with the write that it saw, since the next event inherits its
//!   clocks; the last release fence, and what an acquire fence to come would take over;
//! - the spawn of each thread that has not begun;
//! - the [steps](Step) that led there, so that the execution can be repeated.
//!
//! Events keep their ids, and clocks keep counting from the start of the thread: views and whatever
//! else goes by positions stays right.

use super::Graph;
use crate::clock::{Clocks, LANES, Part, join};
use crate::event::{Event, EventId};
use crate::op::{Addr, Kind, ThreadId};
use crate::schedule::{self, Step};

/// Events after which a graph is full, in programs of few threads.
const WINDOW: usize = 1 << 14;

/// Events that a graph has room for in any case.
const LEAST: usize = 1 << 10;

/// What is kept of a thread's older events.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// Single events, by position.
    events: Vec<(u32, Event)>,
    /// What an acquire fence takes over from older reads.
    pub(super) seen: Vec<u32>,
    /// How many events are older than the line.
    len: u32,
}

impl Past {
    #[cold]
    #[inline(never)]
    pub(super) fn event(&self, index: u32) -> &Event {
        let found = self.events.binary_search_by_key(&index, |&(known, _)| known);
        &self.events[found.expect("an event that is referred to is in the graph")].1
    }
}

/// How the older events came about.
#[derive(Debug, Default)]
pub(super) struct Log {
    steps: Vec<Step>,
    /// After how many steps a line was drawn.
    lines: Vec<u32>,
    /// The threads that were spawned, in this order.
    spawned: Vec<ThreadId>,
    /// How many of the events in the graph are among the steps.
    logged: usize,
    /// How many events the graph had room for beyond those it kept.
    kept: usize,
}

impl Graph {
    /// Forgets everything but the room.
    pub fn clear(&mut self) {
        self.joins.clear();
        for thread in &mut self.threads {
            thread.events.clear();
            thread.spawn = None;
            thread.release_fences.clear();
            thread.seqcst.clear();
        }
        if self.is_compacted() {
            for thread in &mut self.threads {
                thread.base = 0;
                thread.past = Past::default();
            }
            self.past = Log::default();
        }
        for location in &mut self.locations[..self.used] {
            location.writes.clear();
            location.reads.clear();
            location.bottom = 0;
            location.broken = false;
        }
        self.used = 0;
        self.order.clear();
        self.seqcst = 0;
        self.plain = false;
        self.clocks.truncate(0);
    }

    /// Whether it is time to [compact](Graph::compact).
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.order.len() >= LEAST && self.is_over_window()
    }

    #[cold]
    #[inline(never)]
    fn is_over_window(&self) -> bool {
        // Wide clocks take more room.
        let window = WINDOW * LANES / self.width();
        self.order.len() >= window.max(LEAST).max(2 * self.past.kept)
    }

    /// Whether older events have been let go.
    #[inline(always)]
    pub fn is_compacted(&self) -> bool {
        !self.past.steps.is_empty()
    }

    /// Number of events, with those that were let go.
    #[inline(always)]
    pub fn total(&self) -> usize {
        self.past.steps.len() + self.order.len() - self.past.logged
    }

    /// After how many steps of the execution the graph has let go of older events.
    pub fn lines(&self) -> &[u32] {
        &self.past.lines
    }

    /// How many events of a thread are older than the line.
    #[inline(always)]
    pub fn past_of(&self, thread: ThreadId) -> u32 {
        self.threads[thread.index()].past.len
    }

    /// Whether the event is older than the line, or the initial write.
    #[inline(always)]
    pub fn is_past(&self, id: EventId) -> bool {
        id.is_init() || id.index < self.past_of(id.thread)
    }

    /// Where in the thread the first of [`Graph::thread`] is.
    #[inline(always)]
    pub fn base(&self, thread: ThreadId) -> usize {
        self.threads[thread.index()].base as usize
    }

    /// The events of a thread from a position on, as far as they are there.
    pub fn since(&self, thread: ThreadId, from: u32) -> &[Event] {
        let thread = &self.threads[thread.index()];
        &thread.events[from.saturating_sub(thread.base) as usize..]
    }

    /// The events of a thread before a position, as far as they are there.
    pub fn before(&self, thread: ThreadId, end: usize) -> &[Event] {
        let thread = &self.threads[thread.index()];
        &thread.events[..end.saturating_sub(thread.base as usize)]
    }

    /// The first place of the coherence order that is still there.
    #[inline(always)]
    pub fn bottom(&self, addr: Addr) -> usize {
        self.locations[addr.index()].bottom as usize
    }

    /// The steps of the execution, in the order of insertion, and the threads in the order in which
    /// they were spawned.
    pub fn steps(&self) -> (Vec<Step>, Vec<ThreadId>) {
        let mut steps = self.past.steps.clone();
        steps.extend(self.new_steps());
        let mut spawned = self.past.spawned.clone();
        spawned.extend(self.new_spawns());
        (steps, spawned)
    }

    fn new_steps(&self) -> Vec<Step> {
        let mut taken: Vec<Vec<EventId>> = Vec::with_capacity(self.used);
        taken.extend(self.locations[..self.used].iter().map(|l| l.writes[..l.bottom as usize].to_vec()));
        schedule::steps(self, &self.order[self.past.logged..], &mut taken)
    }

    fn new_spawns(&self) -> impl Iterator<Item = ThreadId> {
        let new = self.order[self.past.logged..].iter().map(|&id| self.event(id));
        new.filter(|event| event.kind == Kind::Spawn).map(|event| ThreadId(event.value as u32))
    }

    /// Draws the line after the events so far.
    #[cold]
    #[inline(never)]
    pub fn compact(&mut self) {
        let steps = self.new_steps();
        let spawned: Vec<ThreadId> = self.new_spawns().collect();
        self.past.steps.extend(steps);
        self.past.lines.push(self.past.steps.len() as u32);
        self.past.spawned.extend(spawned);
        let mut kept = self.kept();
        kept.sort_unstable();
        kept.dedup();
        let mut clocks = Clocks::new();
        clocks.widen(self.width());
        let mut pasts: Vec<Vec<(u32, Event)>> = vec![Vec::new(); self.threads.len()];
        let mut clock = Vec::new();
        for &id in &kept {
            let mut event = *self.event(id);
            self.hb_into(id, &mut clock);
            let slot = clocks.push();
            clocks.get_mut(slot, Part::Hb).copy_from_slice(&clock);
            clocks.get_mut(slot, Part::Porf).copy_from_slice(self.clocks.get(event.clock, Part::Porf));
            clocks.get_mut(slot, Part::Published).copy_from_slice(self.published(id));
            // What it has learned from the write it saw is in its clocks.
            event.rf = EventId::INIT;
            event.clock = slot;
            pasts[id.thread.index()].push((id.index, event));
        }
        let seen: Vec<Vec<u32>> = (0..self.threads.len()).map(|t| self.seen(ThreadId(t as u32))).collect();
        let lasts: Vec<EventId> = (0..self.threads.len())
            .map(|t| ThreadId(t as u32))
            .filter(|&thread| self.thread_len(thread) > 0)
            .map(|thread| EventId::new(thread, self.thread_len(thread) - 1))
            .collect();
        for &id in &lasts {
            let slot = clocks.push();
            for part in [Part::Hb, Part::Porf, Part::Published] {
                let source = self.clocks.get(self.event(id).clock, part);
                clocks.get_mut(slot, part).copy_from_slice(source);
            }
            self.event_mut(id).clock = slot;
        }
        self.clocks = clocks;
        for (t, (events, seen)) in pasts.into_iter().zip(seen).enumerate() {
            let len = self.thread_len(ThreadId(t as u32)) as u32;
            let thread = &mut self.threads[t];
            thread.past = Past { events, seen, len };
            thread.base = len.saturating_sub(1);
            let old = thread.events.len().saturating_sub(1);
            thread.events.drain(..old);
            thread.seqcst.clear();
            let fence = thread.release_fences.last().copied();
            thread.release_fences.clear();
            thread.release_fences.extend(fence);
        }
        for location in &mut self.locations[..self.used] {
            let old = location.writes.len().saturating_sub(1);
            location.writes.drain(..old);
            location.bottom = location.writes.len() as u32;
            location.broken = false;
            location.reads.clear();
        }
        self.order.clear();
        self.order.extend(&lasts);
        for (stamp, &id) in lasts.iter().enumerate() {
            self.event_mut(id).stamp = stamp as u32;
        }
        self.seqcst = 0;
        self.past.logged = lasts.len();
        self.past.kept = kept.len();
    }

    /// The older events that something still refers to.
    fn kept(&self) -> Vec<EventId> {
        let newest = self.locations[..self.used].iter().filter_map(|location| location.writes.last());
        let mut kept: Vec<EventId> = newest.copied().collect();
        for t in 0..self.threads.len() {
            let (id, thread) = (ThreadId(t as u32), &self.threads[t]);
            match thread.events.last() {
                Some(last) if last.is_read() && !last.rf.is_init() => kept.push(last.rf),
                Some(_) => {}
                None => kept.extend(thread.spawn),
            }
            kept.extend(thread.release_fences.last().map(|&index| EventId { thread: id, index }));
        }
        kept
    }

    /// What an acquire fence of a thread would take over now.
    fn seen(&self, thread: ThreadId) -> Vec<u32> {
        let mut seen = vec![0; self.width()];
        let new = self.since(thread, self.past_of(thread));
        for event in new.iter().rev() {
            if event.kind == Kind::Fence && event.mode.acquires() {
                return seen;
            }
            if event.is_read() && event.mode.is_atomic() && !event.rf.is_init() {
                join(&mut seen, self.published(event.rf));
            }
        }
        join(&mut seen, &self.threads[thread.index()].past.seen);
        seen
    }
}
