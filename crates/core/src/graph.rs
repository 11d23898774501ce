//! The execution graph: events with program order, reads-from and coherence.
//!
//! Program order is the position within a thread; `rf` is stored in the read; the coherence
//! order of a location is a list. Happens-before is derived, as events are added, by the rules
//! of C++20 in the form of clocks ([`clock`](crate::clock)):
//!
//! - a write publishes its own `hb` if it releases, else that of the last release fence before
//!   it, and a successful read-modify-write adds what the write it reads has published (that is
//!   the release sequence);
//! - a read takes over what its write published if it acquires; otherwise the next acquire
//!   fence does.
//!
//! Under models where every access synchronises ([`Synchronisation::Always`]) the modes count
//! for nothing. A successful read-modify-write is one event that reads and writes.
//!
//! A graph is grown at its end ([`Graph::add`]), cut back to an earlier length
//! ([`Graph::cut`]), copied ([`Graph::copy_from`]), copied in part ([`Graph::restrict_into`]), or lets go of its older events
//! ([`Graph::compact`]). It knows no strategy.

mod adding;
#[cfg(any(test, feature = "audit"))]
mod audit;
mod class;
mod compact;
mod restrict;

use crate::clock::{Clock, Clocks, Part, join, knows};
use crate::coverage;
use crate::event::{Event, EventId};
use crate::op::{Addr, Kind, Rmw, Site, ThreadId, Value};

/// Which accesses synchronise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Synchronisation {
    /// Those whose modes say so.
    AsWritten,
    /// All: each read acquires, each write releases.
    Always,
}

/// One thread's part of a graph.
#[derive(Debug, Default)]
struct Thread {
    events: Vec<Event>,
    /// Where in the thread the first of `events` is: 0, unless older ones were let go.
    base: u32,
    /// What was kept of the older ones.
    past: compact::Past,
    /// The event that spawned the thread, if it is in the graph.
    spawn: Option<EventId>,
    /// Positions of release fences.
    release_fences: Vec<u32>,
    /// Positions of events that are sequentially consistent, or were when added.
    seqcst: Vec<u32>,
}

/// A location: its initial value, its writes in coherence order, its reads in order of stamps.
#[derive(Debug)]
pub struct Location {
    /// The value before any write.
    pub init: Value,
    /// What it is called in every run; 0 if it has no such name.
    name: u64,
    writes: Vec<EventId>,
    reads: Vec<EventId>,
    /// 1 when what is before the first write has been let go.
    bottom: u32,
    /// Whether there may be a write that is no read-modify-write.
    broken: bool,
}

/// A write, as those see it who read it.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The write.
    pub write: EventId,
    /// Its value.
    pub value: Value,
    /// Its place in the source.
    pub site: Site,
}

/// Room that the buffers of a location get at once.
const FEW: usize = 4;

impl Location {
    fn new() -> Location {
        let (writes, reads) = (Vec::with_capacity(FEW), Vec::with_capacity(FEW));
        Location { init: 0, name: 0, writes, reads, bottom: 0, broken: false }
    }
}

/// An execution graph.
#[derive(Debug)]
pub struct Graph {
    threads: Vec<Thread>,
    order: Vec<EventId>,
    /// Which threads were joined by which events, in the order of insertion: several may wait for one.
    joins: Vec<(ThreadId, EventId)>,
    /// The first `used` are locations; the others are kept for their buffers.
    locations: Vec<Location>,
    used: usize,
    clocks: Clocks,
    fixed: Vec<u32>,
    synchronisation: Synchronisation,
    seqcst: u32,
    plain: bool,
    /// How many clocks were in use when a copy took them over.
    clock_top: u32,
    /// Whether `porf` is kept up to date.
    keeps_porf: bool,
    past: compact::Log,
}

impl Graph {
    /// An empty graph.
    pub fn new(synchronisation: Synchronisation) -> Graph {
        Graph {
            threads: vec![Thread::default()],
            order: Vec::new(),
            joins: Vec::new(),
            locations: Vec::new(),
            used: 0,
            clocks: Clocks::new(),
            fixed: vec![0; crate::clock::LANES],
            synchronisation,
            seqcst: 0,
            plain: false,
            clock_top: 0,
            keeps_porf: true,
            past: compact::Log::default(),
        }
    }

    /// Leaves [`Graph::porf`] out from here on, which then nobody may ask for.
    pub fn leave_out_porf(&mut self) {
        self.keeps_porf = false;
    }

    /// Whether it can be asked for `porf`.
    pub fn keeps_porf(&self) -> bool {
        self.keeps_porf
    }

    /// Number of events.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Number of events of a thread.
    #[inline(always)]
    pub fn thread_len(&self, thread: ThreadId) -> usize {
        self.threads.get(thread.index()).map_or(0, |t| t.base as usize + t.events.len())
    }

    /// Number of events of each thread.
    #[inline(always)]
    pub fn thread_lens(&self) -> impl Iterator<Item = u32> + '_ {
        self.threads.iter().map(|thread| thread.base + thread.events.len() as u32)
    }

    /// One more than the highest thread id.
    #[inline(always)]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// Whether the thread exists: the main thread, or one whose spawn is in the graph.
    #[inline(always)]
    pub fn exists(&self, thread: ThreadId) -> bool {
        thread == ThreadId::MAIN || self.threads.get(thread.index()).is_some_and(|t| t.spawn.is_some())
    }

    /// The event that spawned the thread.
    pub fn spawn_of(&self, thread: ThreadId) -> Option<EventId> {
        self.threads.get(thread.index())?.spawn
    }

    /// The events that joined the thread.
    pub fn joins_of(&self, thread: ThreadId) -> impl Iterator<Item = EventId> {
        self.joins.iter().filter(move |(joined, _)| *joined == thread).map(|&(_, join)| join)
    }

    /// Whether the thread has ended.
    #[inline(always)]
    pub fn is_finished(&self, thread: ThreadId) -> bool {
        self.threads
            .get(thread.index())
            .and_then(|t| t.events.last())
            .is_some_and(|last| last.kind == Kind::Finish)
    }

    /// The event with this id.
    #[inline(always)]
    pub fn event(&self, id: EventId) -> &Event {
        let thread = &self.threads[id.thread.index()];
        match thread.events.get(id.index.wrapping_sub(thread.base) as usize) {
            Some(event) => event,
            None => thread.past.event(id.index),
        }
    }

    /// The event with this id, if it is in the graph and was not let go.
    #[inline(always)]
    pub fn kept_event(&self, id: EventId) -> Option<&Event> {
        let thread = self.threads.get(id.thread.index())?;
        thread.events.get(id.index.wrapping_sub(thread.base) as usize)
    }

    /// The event with this id, to change.
    #[inline(always)]
    pub fn event_mut(&mut self, id: EventId) -> &mut Event {
        let thread = &mut self.threads[id.thread.index()];
        &mut thread.events[(id.index - thread.base) as usize]
    }

    /// The events of a thread in program order; only the younger ones, if the others were let go.
    #[inline(always)]
    pub fn thread(&self, thread: ThreadId) -> &[Event] {
        self.threads.get(thread.index()).map_or(&[], |t| &t.events)
    }

    /// The events in order of insertion.
    #[inline(always)]
    pub fn order(&self) -> &[EventId] {
        &self.order
    }

    /// Number of locations.
    #[inline(always)]
    pub fn location_count(&self) -> usize {
        self.used
    }

    /// A location.
    #[inline(always)]
    pub fn location(&self, addr: Addr) -> &Location {
        &self.locations[addr.index()]
    }

    /// The writes of a location in coherence order, without the initial one.
    #[inline(always)]
    pub fn writes(&self, addr: Addr) -> &[EventId] {
        &self.locations[addr.index()].writes
    }

    /// The reads of a location in order of stamps, successful read-modify-writes among them.
    #[inline(always)]
    pub fn reads(&self, addr: Addr) -> &[EventId] {
        &self.locations[addr.index()].reads
    }

    /// A new location with its initial value.
    pub fn add_location(&mut self, init: Value) -> Addr {
        if self.used == self.locations.len() {
            self.locations.push(Location::new());
        }
        self.locations[self.used].init = init;
        self.locations[self.used].name = 0;
        self.used += 1;
        Addr(self.used as u32 - 1)
    }

    /// Sets the initial value again, as the program made it in this run.
    #[inline(always)]
    pub fn set_init(&mut self, addr: Addr, init: Value) {
        self.locations[addr.index()].init = init;
    }

    /// What a location is called in every run, as locations are numbered anew in each; 0 if that is not known.
    #[inline(always)]
    pub fn name(&self, addr: Addr) -> u64 {
        self.locations[addr.index()].name
    }

    /// Gives a location its name.
    #[inline(always)]
    pub fn set_name(&mut self, addr: Addr, name: u64) {
        self.locations[addr.index()].name = name;
    }

    /// Forgets trailing locations that no event uses.
    #[inline(always)]
    pub fn trim_locations(&mut self) {
        let is_idle = |location: &Location| location.writes.is_empty() && location.reads.is_empty();
        while self.used > 0 && is_idle(&self.locations[self.used - 1]) {
            self.used -= 1;
        }
    }

    /// Whether the graph has accesses that are not atomic.
    pub fn has_plain(&self) -> bool {
        self.plain
    }

    /// Number of sequentially consistent events, or of events that may be such.
    #[inline(always)]
    pub fn seqcst_count(&self) -> u32 {
        self.seqcst
    }

    /// Positions of sequentially consistent events of a thread, and of events that were such.
    #[inline(always)]
    pub fn seqcst_of(&self, thread: ThreadId) -> &[u32] {
        &self.threads[thread.index()].seqcst
    }

    // ---------------------------------------------------------------- clocks

    /// What happens before the event, and itself; what its own `rf` brings is left out.
    #[inline(always)]
    pub fn hb(&self, id: EventId) -> &Clock {
        self.clocks.get(self.event(id).clock, Part::Hb)
    }

    /// What is before the event in `(po ∪ rf)⁺`, and itself; what the own `rf` of a mere read
    /// brings is left out.
    #[inline(always)]
    pub fn porf(&self, id: EventId) -> &Clock {
        debug_assert!(self.keeps_porf, "a graph without `porf` is asked for it");
        self.clocks.get(self.event(id).clock, Part::Porf)
    }

    /// What a reader that acquires learns from this write.
    #[inline(always)]
    pub fn published(&self, write: EventId) -> &Clock {
        self.clocks.get(self.event(write).clock, Part::Published)
    }

    /// How wide clocks are.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.clocks.width()
    }

    /// What happens before the event, its own `rf` included, into `clock`.
    #[inline(always)]
    pub fn hb_into(&self, id: EventId, clock: &mut Vec<u32>) {
        clock.clear();
        clock.extend_from_slice(self.hb(id));
        let event = self.event(id);
        if event.is_read() && event.has(Event::ACQUIRES) && !event.rf.is_init() {
            join(clock, self.published(event.rf));
        }
    }

    /// What a thread knows after its first `count` events, into `clock`.
    pub fn view_into(&self, thread: ThreadId, count: usize, clock: &mut Vec<u32>) {
        if count > 0 && count <= self.threads[thread.index()].base as usize {
            // It was let go, with all that it knew.
            clock.clear();
            clock.resize(self.width(), 0);
        } else if count > 0 {
            self.hb_into(EventId::new(thread, count - 1), clock);
        } else if let Some(spawn) = self.spawn_of(thread) {
            self.hb_into(spawn, clock);
        } else {
            clock.clear();
            clock.resize(self.width(), 0);
        }
    }

    /// The events that no revisit may touch any more.
    #[inline(always)]
    pub fn fixed(&self) -> &Clock {
        &self.fixed
    }

    /// Adds to the events that no revisit may touch.
    pub fn fix(&mut self, prefix: &Clock) {
        self.fixed.resize(self.clocks.width(), 0);
        join(&mut self.fixed, prefix);
    }

    // ---------------------------------------------------------------- growing

    // ---------------------------------------------------------------- reads-from and coherence

    /// The value that a write leaves.
    #[inline(always)]
    pub fn value(&self, addr: Addr, write: EventId) -> Value {
        if write.is_init() { self.locations[addr.index()].init } else { self.event(write).value }
    }

    /// The newest write of a location.
    #[inline(always)]
    pub fn newest_source(&self, addr: Addr) -> Source {
        self.source(addr, self.newest(addr))
    }

    /// What a read sees.
    #[inline(always)]
    pub fn source_of(&self, read: EventId) -> Source {
        let event = self.event(read);
        self.source(event.addr, event.rf)
    }

    #[inline(always)]
    fn source(&self, addr: Addr, write: EventId) -> Source {
        if write.is_init() {
            return Source { write, value: self.locations[addr.index()].init, site: coverage::INITIAL };
        }
        let event = self.event(write);
        Source { write, value: event.value, site: event.site }
    }

    /// Whether all writes of a location are read-modify-writes, so that each but the newest has its reader
    /// that writes. Only known of graphs whose owner says [where that ends](Graph::break_chain).
    #[inline(always)]
    pub fn is_chain(&self, addr: Addr) -> bool {
        !self.locations[addr.index()].broken
    }

    /// A write of the location is no read-modify-write.
    #[inline(always)]
    pub fn break_chain(&mut self, addr: Addr) {
        self.locations[addr.index()].broken = true;
    }

    /// The value that a read returns.
    #[inline(always)]
    pub fn read_value(&self, read: EventId) -> Value {
        let event = self.event(read);
        self.value(event.addr, event.rf)
    }

    /// The coherence-last write of a location.
    #[inline(always)]
    pub fn newest(&self, addr: Addr) -> EventId {
        self.writes(addr).last().copied().unwrap_or(EventId::INIT)
    }

    /// The place of a write in coherence order: 0 for the initial write, then 1, 2, ...
    #[inline(always)]
    pub fn position(&self, addr: Addr, write: EventId) -> usize {
        if write.is_init() {
            return 0;
        }
        let place = self.writes(addr).iter().rposition(|&w| w == write);
        place.expect("a write is in the coherence order of its location") + 1
    }

    /// The write at a place of the coherence order.
    #[inline(always)]
    pub fn write_at(&self, addr: Addr, position: usize) -> EventId {
        if position == 0 { EventId::INIT } else { self.writes(addr)[position - 1] }
    }

    /// The last place of the coherence order that someone with this `hb` clock knows of: a write
    /// that happens before, or that is seen by a read that happens before.
    #[inline(always)]
    pub fn floor(&self, addr: Addr, hb: &Clock) -> usize {
        self.floor_among(addr, hb, |_| true)
    }

    /// As [`Graph::floor`], for an access that has just been added and has neither a source nor a place yet.
    #[inline(always)]
    pub fn floor_of_new(&self, addr: Addr, id: EventId) -> usize {
        self.floor_among(addr, self.hb(id), |other| other != id)
    }

    /// As [`Graph::floor`]; reads in `except`, and the writes in it, do not count.
    #[inline(never)]
    pub fn floor_without(&self, addr: Addr, hb: &Clock, except: [EventId; 2]) -> usize {
        self.floor_among(addr, hb, |id| !except.contains(&id))
    }

    #[inline(always)]
    fn floor_among(&self, addr: Addr, hb: &Clock, counts: impl Fn(EventId) -> bool) -> usize {
        let location = &self.locations[addr.index()];
        let newest = location.writes.len();
        let known = location.writes.iter().rposition(|&write| knows(hb, write) && counts(write));
        let mut floor = known.map_or(location.bottom as usize, |place| place + 1);
        if floor == newest {
            return floor;
        }
        for &read in location.reads.iter().rev() {
            if !knows(hb, read) || !counts(read) {
                continue;
            }
            let source = self.event(read).rf;
            if !source.is_init() && counts(source) {
                floor = floor.max(self.position(addr, source));
                if floor == newest {
                    break;
                }
            }
        }
        floor
    }

    /// The successful read-modify-write that reads `write`, if it is not `but`.
    #[inline(always)]
    pub fn rival(&self, addr: Addr, write: EventId, but: EventId) -> Option<EventId> {
        let after = self.position(addr, write);
        self.writes(addr)[after..]
            .iter()
            .take(2)
            .copied()
            .find(|&next| next != but && self.event(next).is_update() && self.event(next).rf == write)
    }

    /// Whether a write put at `place` would part a read-modify-write from the write it reads.
    #[inline(always)]
    pub fn splits(&self, addr: Addr, place: usize) -> bool {
        self.writes(addr).get(place).is_some_and(|&next| self.event(next).is_update())
    }

    /// Puts a write into the coherence order, after `place` writes (the initial one not counted).
    #[inline(always)]
    pub fn insert_write(&mut self, addr: Addr, place: usize, write: EventId) {
        debug_assert!(
            self.event(write).is_write() && self.event(write).addr == addr,
            "{write:?} is no write there"
        );
        debug_assert!(place >= self.bottom(addr), "{write:?} is put before what was let go");
        self.locations[addr.index()].writes.insert(place, write);
    }

    /// Takes a write out of the coherence order and returns its place.
    #[inline(always)]
    pub fn remove_write(&mut self, addr: Addr, write: EventId) -> usize {
        let place = self.position(addr, write) - 1;
        self.locations[addr.index()].writes.remove(place);
        place
    }

    /// Points a read at a write. A read-modify-write that now writes gets its place right after
    /// the write; one that no longer does loses it. The read must be the last event of its
    /// thread. Returns whether it writes.
    #[inline(always)]
    pub fn read_from(&mut self, read: EventId, write: EventId, spurious: bool) -> bool {
        debug_assert_eq!(self.thread_len(read.thread), read.index as usize + 1);
        debug_assert!(
            write.is_init() || self.event(write).is_write(),
            "{read:?} reads {write:?}, which is no write"
        );
        let known = self.event_mut(read);
        if known.rmw == Rmw::None {
            known.rf = write;
            return false;
        }
        let mut event = *known;
        let addr = event.addr;
        if event.is_update() {
            self.remove_write(addr, read);
            self.inherit_clocks(read.thread, read.index, event.clock);
        }
        event.rf = write;
        event.flags &= !(Event::UPDATE | Event::SPURIOUS);
        let new = if spurious { None } else { event.apply(self.value(addr, write)) };
        if spurious {
            event.flags |= Event::SPURIOUS;
        }
        if let Some(value) = new {
            event.flags |= Event::UPDATE;
            event.value = value;
        }
        event.flags = self.with_effects(event.flags, (event.kind, event.rmw), (event.mode, event.failure));
        *self.event_mut(read) = event;
        if new.is_some() {
            let place = self.position(addr, write);
            self.insert_write(addr, place, read);
            self.publish(read);
            if self.keeps_porf && !write.is_init() {
                let source = self.event(write).clock;
                self.clocks.join((source, Part::Porf), (event.clock, Part::Porf));
            }
        }
        new.is_some()
    }

    /// Gives the event clocks of its own, so that changing them leaves other graphs alone.
    pub fn renew_clock(&mut self, id: EventId) {
        let slot = self.clocks.push();
        self.event_mut(id).clock = slot;
        self.inherit_clocks(id.thread, id.index, slot);
    }
}
