//! Optimal exploration: every consistent execution graph exactly once, in linear memory.
//!
//! TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: "Truly stateless, optimal dynamic
//! partial order reduction", POPL 2022), on merged read-modify-writes, with locks.
//!
//! - **Forward**: a new event takes the default (a read the newest write, a write the last
//!   place), which is always consistent; the alternatives become items, tried later by
//!   cutting the same graph back.
//! - **Backward**: a new write `w` may be what an older read `r` should have seen. The graph
//!   without the events younger than `r`, but with the `porf`-prefix of `w`, and with `r`
//!   reading `w`, is explored if everything that is dropped, and `r` itself, was *maximal*: added
//!   by default as far as the events that stay or are older can tell. Exactly one of the graphs
//!   from which it could be reached passes that test, so nothing is visited twice.
//! - **Read-modify-writes** that read one write rule each other out. The branch in which a second
//!   one does is dead, but its revisits are not; two filters keep most dead branches from being
//!   tried: sources whose rival is settled, and revisits of reads younger than the rival.
//! - **Locks** are taken only when free. A revisit that would show a taken lock to an acquire
//!   drops the acquire and settles the one that was first. In an execution that is stuck, each
//!   waiter still tries the lock from every free source whose rival is not settled, for revisits
//!   only: without that, executions are lost whenever a program can block.
//! - **Choices** are maximal only at their default.
//!
//! The next thread is always the lowest one before an op that does not read, else the lowest
//! one: a function of the graph alone, as optimality demands.

#[cfg(feature = "audit")]
mod audit;
mod probe;

use unpick_core::clock::{join, knows};
use unpick_core::event::{Event, EventId};
use unpick_core::graph::Graph;
use unpick_core::memory::Linear;
use unpick_core::mutant::{self, Mutant};
use unpick_core::op::{Kind, Op, Rmw, ThreadId};
use unpick_core::strategy::{Estimate, LockWaiter, Path, PreemptionBound, Ready, Scene, Seen, Strategy};

use crate::branches::Branches;
use crate::preemptions::Preemptions;

pub use probe::Probe;

/// An alternative that is still to be explored, with the length of the graph it belongs to.
#[derive(Clone, Copy, Debug)]
enum Item {
    /// Let the last event, a read, see another write.
    Source { read: EventId, write: EventId, len: u32, spurious: bool },
    /// Put a write at another place; `read` was revisited by it.
    Place { write: EventId, place: u32, read: Option<EventId>, len: u32 },
    /// Let an older read see a write.
    Revisit { read: EventId, write: EventId, len: u32 },
    /// Let a lock waiter try a source that is taken, for revisits only.
    Retry { waiter: LockWaiter, source: EventId, len: u32 },
    /// Decide the last event, a choice, otherwise.
    Choice { choice: EventId, value: u64, len: u32 },
}

/// A graph that a revisit has left, to come back to.
#[derive(Debug)]
struct Frame {
    graph: Graph,
    /// Where the items of the revisit begin.
    items: usize,
}

/// The strategy.
#[derive(Debug)]
pub struct Optimal {
    items: Vec<Item>,
    frames: Vec<Frame>,
    spare: Vec<Graph>,
    spurious: bool,
    prefix: Vec<u32>,
    lens: Vec<u32>,
    changed: Vec<EventId>,
    limit: Option<Limit>,
    branches: Branches,
}

/// A bound on preemptions.
#[derive(Debug)]
struct Limit {
    bound: PreemptionBound,
    preemptions: Preemptions,
    lens: Vec<u32>,
}

impl Limit {
    /// Whether the graph may lead to an execution within the bound: whether the part is within it that all
    /// executions have which the graph leads to.
    fn allows(&mut self, graph: &Graph, linear: Linear) -> bool {
        self.keep_settled(graph);
        self.keep_older(graph);
        if mutant::is(Mutant::BoundOnWholeGraphs) {
            self.keep_all(graph);
        }
        let allowed = self.preemptions.within(graph, &self.lens, linear, &[], self.bound.preemptions);
        self.bound.left_out += u64::from(!allowed);
        allowed
    }

    /// Collects the events that no revisit will drop or change: those that are fixed or not maximal,
    /// and what is before them. A read before such an event is not revisited, since the event would
    /// have to be dropped. Each revisit has all of them among the older events or in the prefix of
    /// its write, so they count when it is asked whether others are maximal.
    fn keep_settled(&mut self, graph: &Graph) {
        self.lens.clear();
        self.lens.resize(graph.width(), 0);
        join(&mut self.lens, graph.fixed());
        let mut more = true;
        while std::mem::take(&mut more) {
            for &id in graph.order().iter().rev() {
                if !knows(&self.lens, id) && !may_be_dropped(graph, id, &self.lens) {
                    join(&mut self.lens, graph.porf(id));
                    let event = graph.event(id);
                    if event.is_read() && !event.rf.is_init() {
                        join(&mut self.lens, graph.porf(event.rf));
                    }
                    more = true;
                }
            }
        }
    }

    /// Adds what is older than any read that may be revisited.
    fn keep_older(&mut self, graph: &Graph) {
        for &id in graph.order() {
            if !knows(&self.lens, id) && graph.event(id).is_read() {
                return;
            }
            let len = &mut self.lens[id.thread.index()];
            *len = (*len).max(id.index + 1);
        }
    }

    /// Whether the execution is within the bound.
    fn holds(&mut self, graph: &Graph, linear: Linear, waiters: &[LockWaiter]) -> bool {
        self.keep_all(graph);
        self.preemptions.within(graph, &self.lens, linear, waiters, self.bound.preemptions)
    }

    fn keep_all(&mut self, graph: &Graph) {
        self.lens.clear();
        self.lens.extend(graph.thread_lens());
    }
}

impl Optimal {
    /// A search from the start; `spurious` lets weak exchanges fail without a reason.
    pub fn new(spurious: bool) -> Optimal {
        Optimal {
            items: Vec::new(),
            frames: Vec::new(),
            spare: Vec::new(),
            spurious,
            prefix: Vec::new(),
            lens: Vec::new(),
            changed: Vec::new(),
            limit: None,
            branches: Branches::default(),
        }
    }

    /// The same search, for executions with at most so many preemptions.
    pub fn with_preemption_bound(mut self, preemptions: u32) -> Optimal {
        let bound = PreemptionBound { preemptions, left_out: 0 };
        self.limit = Some(Limit { bound, preemptions: Preemptions::default(), lens: Vec::new() });
        self
    }

    /// Makes a node of the items from `start` on, if there are any, and goes on to its default child.
    #[inline(always)]
    fn branch(&mut self, start: usize) {
        self.branches.branch(start, self.items.len());
    }

    /// Offers a read every write but the newest as an alternative.
    fn push_sources(&mut self, graph: &Graph, read: EventId) {
        let event = graph.event(read);
        let (addr, len) = (event.addr, graph.len() as u32);
        let newest = graph.writes(addr).len();
        let floor = graph.floor(addr, graph.hb(read));
        let weak = self.spurious && event.rmw == Rmw::WeakCas;
        let start = self.items.len();
        for position in floor..=newest {
            let write = graph.write_at(addr, position);
            if event.rmw != Rmw::None {
                let succeeds = event.apply(graph.value(addr, write)).is_some();
                if succeeds && weak {
                    self.items.push(Item::Source { read, write, len, spurious: true });
                }
                if event.rmw.waits_on(graph.value(addr, write)) {
                    continue;
                }
                if succeeds && position < newest && is_settled(graph, read, graph.rival(addr, write, read)) {
                    continue;
                }
            }
            if position < newest {
                self.items.push(Item::Source { read, write, len, spurious: false });
            }
        }
        self.branch(start);
    }

    /// Offers the reads that `write` may revisit. `rival` is the read-modify-write that it
    /// conflicts with: only revisiting that one, or an older read, can mend the conflict.
    #[inline(never)]
    fn push_revisits(&mut self, graph: &Graph, write: EventId, rival: Option<EventId>) {
        // A thread alone knows all its reads; to look at each, for each write, would take long in a long execution.
        if graph.thread_count() == 1 {
            return;
        }
        let addr = graph.event(write).addr;
        let prefix = graph.porf(write);
        let Some(&oldest) = graph.reads(addr).iter().find(|&&r| !knows(prefix, r)) else { return };
        let oldest = graph.event(oldest).stamp as usize;
        let youngest = rival.map_or(u32::MAX, |rival| graph.event(rival).stamp);
        let len = graph.len() as u32;
        let start = self.items.len();
        for &id in graph.order()[oldest..].iter().rev() {
            if knows(prefix, id) {
                continue;
            }
            let event = graph.event(id);
            let revisitable = event.is_read() && event.addr == addr && event.stamp <= youngest;
            let maximal = is_maximal(graph, id, prefix, write);
            if revisitable && (maximal || mutant::is(Mutant::ReadMaximalitySkipped)) {
                self.items.push(Item::Revisit { read: id, write, len });
            }
            if !maximal {
                break;
            }
        }
        self.branch(start);
    }

    /// Offers a write every place but the last, from `floor` on.
    fn push_places(&mut self, graph: &Graph, write: EventId, floor: usize, read: Option<EventId>) {
        let addr = graph.event(write).addr;
        let len = graph.len() as u32;
        let start = self.items.len();
        for place in floor..graph.writes(addr).len() {
            if !graph.splits(addr, place) {
                self.items.push(Item::Place { write, place: place as u32, read, len });
            }
        }
        self.branch(start);
    }

    /// Carries out an alternative; `false` when it leads nowhere.
    fn apply(&mut self, graph: &mut Graph, item: Item) -> bool {
        self.changed.clear();
        match item {
            Item::Source { read, write, len, spurious } => {
                graph.cut(len as usize);
                self.changed.push(read);
                // The write may be new as well: see `settle`.
                self.changed.extend((spurious && !write.is_init()).then_some(write));
                graph.event_mut(read).flags |= Event::DEVIATES;
                let rival = rival_of(graph, read, write, spurious);
                if graph.read_from(read, write, spurious) {
                    self.push_revisits(graph, read, rival);
                }
                rival.is_none()
            }
            Item::Place { write, place, read, len } => {
                graph.cut(len as usize);
                let addr = graph.event(write).addr;
                if let Some(read) = read {
                    self.changed.push(read);
                    detach(graph, read);
                }
                self.changed.push(write);
                graph.remove_write(addr, write);
                graph.insert_write(addr, place as usize, write);
                graph.event_mut(write).flags |= Event::DEVIATES;
                if let Some(read) = read {
                    self.settle(graph, read, write);
                }
                true
            }
            Item::Revisit { read, write, len } => {
                graph.cut(len as usize);
                self.revisit(graph, read, write)
            }
            Item::Retry { waiter, source, len } => {
                graph.cut(len as usize);
                let read = graph.add(waiter.thread, &waiter.op());
                let rival = graph.rival(waiter.addr, source, read);
                let floor = graph.floor(waiter.addr, graph.hb(read));
                if graph.position(waiter.addr, source) < floor {
                    return false;
                }
                if !is_settled(graph, read, rival) && graph.read_from(read, source, false) {
                    self.push_revisits(graph, read, rival);
                }
                false
            }
            Item::Choice { choice, value, len } => {
                graph.cut(len as usize);
                let event = graph.event_mut(choice);
                event.value = value;
                event.flags |= Event::DEVIATES;
                true
            }
        }
    }

    /// Lets `read` see `write`, dropping what is younger than `read` and not before `write`.
    fn revisit(&mut self, graph: &mut Graph, read: EventId, write: EventId) -> bool {
        let source = *graph.event(read);
        let addr = source.addr;
        debug_assert!(!knows(graph.porf(write), read), "a read is to see what depends on it");
        // An acquire that would find the lock taken has not happened yet.
        let dropped = source.rmw.waits_on(graph.event(write).value);
        let older = source.stamp as usize + usize::from(!dropped);
        self.prefix.clear();
        self.prefix.extend_from_slice(graph.porf(write));
        self.lens.clear();
        self.lens.extend(graph.thread_lens());
        self.lens.resize(self.prefix.len(), 0);
        for id in &graph.order()[older..] {
            let len = &mut self.lens[id.thread.index()];
            *len = (*len).min(id.index);
        }
        join(&mut self.lens, &self.prefix);
        let mut child =
            self.spare.pop().unwrap_or_else(|| Graph::new(unpick_core::graph::Synchronisation::AsWritten));
        graph.restrict_into(&self.lens, older, &mut child);
        let parent = std::mem::replace(graph, child);
        self.frames.push(Frame { graph: parent, items: self.items.len() });
        graph.fix(&self.prefix);
        self.changed.push(write);
        if dropped {
            return true;
        }
        self.changed.push(read);
        if source.rmw != Rmw::None {
            detach(graph, read);
            graph.renew_clock(read);
        }
        graph.remove_write(addr, write);
        let unseen = [read, write];
        let floor = graph.floor_without(addr, graph.hb(read), unseen);
        let written = *graph.event(write);
        if written.is_update() {
            let place = graph.position(addr, written.rf);
            let parts = graph.splits(addr, place);
            graph.insert_write(addr, place, write);
            if place < floor || parts {
                return false;
            }
        } else {
            let floor = floor.max(graph.floor_without(addr, graph.hb(write), unseen));
            if !mutant::is(Mutant::PlaceFixedAfterRevisit) {
                self.push_places(graph, write, floor, Some(read));
            }
            let last = graph.writes(addr).len();
            graph.insert_write(addr, last, write);
        }
        self.settle(graph, read, write);
        true
    }

    /// Lets a revisited read see the new write. If it writes now, it is a new write itself; if it
    /// is a weak exchange that succeeds, it may as well fail.
    fn settle(&mut self, graph: &mut Graph, read: EventId, write: EventId) {
        if graph.read_from(read, write, false) {
            if self.spurious && graph.event(read).rmw == Rmw::WeakCas {
                let (len, start) = (graph.len() as u32, self.items.len());
                self.items.push(Item::Source { read, write, len, spurious: true });
                self.branch(start);
            }
            self.push_revisits(graph, read, None);
        }
    }

    /// Goes back to the graph that the last revisit left.
    fn leave(&mut self, graph: &mut Graph) -> bool {
        let Some(frame) = self.frames.pop() else { return false };
        debug_assert_eq!(self.items.len(), frame.items, "a revisit is left with items of its own");
        let mut spent = std::mem::replace(graph, frame.graph);
        graph.reclaim(&mut spent);
        self.spare.push(spent);
        true
    }
}

impl Strategy for Optimal {
    fn name(&self) -> &'static str {
        "optimal"
    }

    #[inline]
    fn admits(&mut self, thread: ThreadId, reads: bool, ready: &Ready) -> bool {
        let others = ready.others.first();
        if reads {
            others.is_none() && ready.reads.first().is_none_or(|first| thread < first)
        } else {
            others.is_none_or(|first| thread < first)
        }
    }

    #[inline]
    fn pick(&mut self, _: &Graph, ready: &Ready) -> Option<ThreadId> {
        ready.others.first().or_else(|| ready.reads.first())
    }

    fn read(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> Seen {
        let graph = scene.graph;
        let read = graph.add(thread, op);
        self.push_sources(graph, read);
        let newest = graph.newest(op.addr);
        if graph.read_from(read, newest, false) {
            self.push_revisits(graph, read, None);
        }
        Seen::by(graph, read)
    }

    fn write(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        let graph = scene.graph;
        let write = graph.add(thread, op);
        let floor = graph.floor(op.addr, graph.hb(write));
        let last = graph.writes(op.addr).len();
        self.push_places(graph, write, floor, None);
        graph.insert_write(op.addr, last, write);
        self.push_revisits(graph, write, None);
        write
    }

    fn choose(&mut self, scene: Scene<'_>, thread: ThreadId, op: &Op) -> EventId {
        let choice = scene.graph.add_with_value(thread, op, 0);
        let (len, start) = (scene.graph.len() as u32, self.items.len());
        for value in (1..op.operand).rev() {
            self.items.push(Item::Choice { choice, value, len });
        }
        self.branch(start);
        choice
    }

    fn stuck(&mut self, scene: Scene<'_>, waiters: &[LockWaiter]) {
        if mutant::is(Mutant::LockRepairSkipped) {
            return;
        }
        let graph = scene.graph;
        let (len, start) = (graph.len() as u32, self.items.len());
        for &waiter in waiters {
            for position in 0..=graph.writes(waiter.addr).len() {
                let source = graph.write_at(waiter.addr, position);
                if waiter.op().apply(graph.value(waiter.addr, source)).is_some() {
                    self.items.push(Item::Retry { waiter, source, len });
                }
            }
        }
        self.branch(start);
    }

    fn counts(&mut self, scene: Scene<'_>, waiters: &[LockWaiter]) -> bool {
        let Some(limit) = &mut self.limit else { return true };
        limit.holds(scene.graph, scene.model.linear(), waiters)
    }

    #[cfg(feature = "audit")]
    fn flaw(&self, graph: &Graph) -> Option<String> {
        self.item_flaw(graph)
    }

    fn estimate(&self, leaves: u64) -> Option<Estimate> {
        Some(self.branches.estimate(self.items.len(), leaves))
    }

    fn path(&self) -> Option<Path> {
        Some(self.branches.path(self.items.len()))
    }

    fn preemption_bound(&self) -> Option<PreemptionBound> {
        self.limit.as_ref().map(|limit| limit.bound)
    }

    fn next(&mut self, scene: Scene<'_>) -> bool {
        let Scene { graph, model } = scene;
        self.branches.end();
        loop {
            let base = self.frames.last().map_or(0, |frame| frame.items);
            if self.items.len() == base {
                if !self.leave(graph) {
                    self.branches.clear();
                    return false;
                }
                continue;
            }
            let Some(item) = self.items.pop() else { return false };
            self.branches.take(self.items.len());
            if !self.apply(graph, item) {
                continue;
            }
            if !model.consistent(graph, &self.changed) {
                continue;
            }
            if self.limit.as_mut().is_none_or(|limit| limit.allows(graph, model.linear())) {
                return true;
            }
        }
    }
}

/// Takes a successful read-modify-write out of the coherence order.
fn detach(graph: &mut Graph, read: EventId) {
    let event = *graph.event(read);
    if event.is_update() {
        graph.remove_write(event.addr, read);
        graph.event_mut(read).flags &= !Event::UPDATE;
    }
}

/// The read-modify-write that `read` would conflict with if it read `write`.
fn rival_of(graph: &Graph, read: EventId, write: EventId, spurious: bool) -> Option<EventId> {
    let event = graph.event(read);
    if spurious || event.apply(graph.value(event.addr, write)).is_none() {
        return None;
    }
    graph.rival(event.addr, write, read)
}

/// Whether the rival can never be made to read something else.
fn is_settled(graph: &Graph, read: EventId, rival: Option<EventId>) -> bool {
    rival.is_some_and(|rival| knows(graph.porf(read), rival) || knows(graph.fixed(), rival))
}

/// Whether a revisit may drop the event, or change it if it is a read, given that the events in `kept` are
/// older than the revisited read or in the prefix of the write.
fn may_be_dropped(graph: &Graph, id: EventId, kept: &[u32]) -> bool {
    let event = graph.event(id);
    if event.has(Event::DEVIATES) {
        return false;
    }
    let (reads, writes) = (event.is_read(), event.is_write());
    if !reads && !writes {
        return true;
    }
    let before = |other: EventId| knows(kept, other) || graph.event(other).stamp <= event.stamp;
    if writes && graph.reads(event.addr).iter().any(|&r| graph.event(r).rf == id && before(r)) {
        return false;
    }
    let seen = if reads { event.rf } else { id };
    let newer = graph.writes(event.addr).iter().rev().take_while(|&&w| w != seen);
    newer.copied().all(|w| w == id || !before(w))
}

/// Whether the event was added by default, as far as `prefix` and older events can tell; the
/// new `write` does not count.
#[inline(always)]
fn is_maximal(graph: &Graph, id: EventId, prefix: &[u32], write: EventId) -> bool {
    let event = graph.event(id);
    if event.has(Event::DEVIATES) {
        return event.kind == Kind::Choice && mutant::is(Mutant::ChoiceMaximalitySkipped);
    }
    if knows(graph.fixed(), id) {
        return false;
    }
    let (reads, writes) = (event.is_read(), event.is_write());
    if !reads && !writes {
        return true;
    }
    let before = |other: EventId| knows(prefix, other) || graph.event(other).stamp <= event.stamp;
    if writes && graph.reads(event.addr).iter().any(|&r| graph.event(r).rf == id && before(r)) {
        return false;
    }
    let seen = if reads { event.rf } else { id };
    if !seen.is_init() && !before(seen) {
        return false;
    }
    let newer = graph.writes(event.addr).iter().rev().take_while(|&&w| w != seen);
    newer.copied().all(|w| w == write || w == id || !before(w))
}
