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
//! ([`Graph::cut`]), copied in part ([`Graph::restrict_into`]), or lets go of its older events
//! ([`Graph::compact`]). It knows no strategy.

mod class;
mod compact;
mod restrict;

use crate::clock::{Clock, Clocks, Part, join, knows};
use crate::event::{Event, EventId};
use crate::mutant::{self, Mutant};
use crate::op::{Addr, Kind, Mode, Rmw, ThreadId, Value};

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
    /// The event that joined the thread.
    join: Option<EventId>,
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
    writes: Vec<EventId>,
    reads: Vec<EventId>,
    /// 1 when what is before the first write has been let go.
    bottom: usize,
}

/// What the next event of a thread takes over from the one before it.
#[derive(Clone, Copy)]
struct Link {
    clock: u32,
    /// The write that it saw.
    source: Option<EventId>,
    acquires: bool,
}

impl Link {
    #[inline(always)]
    fn new(event: &Event) -> Link {
        let sees = event.is_read() && !event.rf.is_init();
        Link { clock: event.clock, source: sees.then_some(event.rf), acquires: event.has(Event::ACQUIRES) }
    }
}

/// Room that the buffers of a location get at once.
const FEW: usize = 4;

impl Location {
    fn new() -> Location {
        Location { init: 0, writes: Vec::with_capacity(FEW), reads: Vec::with_capacity(FEW), bottom: 0 }
    }
}

/// An execution graph.
#[derive(Debug)]
pub struct Graph {
    threads: Vec<Thread>,
    order: Vec<EventId>,
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

    /// The event that joined the thread.
    pub fn join_of(&self, thread: ThreadId) -> Option<EventId> {
        self.threads.get(thread.index())?.join
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
        self.used += 1;
        Addr(self.used as u32 - 1)
    }

    /// Sets the initial value again, as the program made it in this run.
    #[inline(always)]
    pub fn set_init(&mut self, addr: Addr, init: Value) {
        self.locations[addr.index()].init = init;
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

    /// Adds an event at the end of a thread. A read gets its source by [`Graph::read_from`], a
    /// write its place by [`Graph::insert_write`].
    #[inline(never)]
    pub fn add(&mut self, thread: ThreadId, mut event: Event) -> EventId {
        let slot = self.clocks.push();
        event.clock = slot;
        event.stamp = self.order.len() as u32;
        self.add_flags(&mut event);
        let part = &mut self.threads[thread.index()];
        let index = part.base as usize + part.events.len();
        let id = EventId::new(thread, index);
        let previous = part.events.last().map(Link::new);
        if event.mode == Mode::SeqCst || event.failure == Mode::SeqCst {
            self.seqcst += 1;
            part.seqcst.push(index as u32);
        }
        part.events.push(event);
        self.order.push(id);
        self.inherit_clocks(id, slot, previous);
        match event.kind {
            Kind::Read => {
                self.locations[event.addr.index()].reads.push(id);
                self.plain |= event.mode == Mode::Plain;
            }
            Kind::Write => {
                self.plain |= event.mode == Mode::Plain;
                self.publish(id);
            }
            Kind::Fence => self.add_fence(id),
            Kind::Join => {
                let child = ThreadId(event.value as u32);
                let last = EventId::new(child, self.thread_len(child) - 1);
                let source = self.event(last).clock;
                self.clocks.join((source, Part::Hb), (slot, Part::Hb));
                if self.keeps_porf {
                    self.clocks.join((source, Part::Porf), (slot, Part::Porf));
                }
                self.threads[child.index()].join = Some(id);
            }
            Kind::Spawn => {
                let child = event.value as usize;
                if child >= self.threads.len() {
                    self.threads.resize_with(child + 1, Thread::default);
                    self.clocks.widen(child + 1);
                }
                self.threads[child].spawn = Some(id);
            }
            Kind::Choice if event.is_timeout() && self.keeps_porf => self.come_last(slot),
            Kind::Finish | Kind::Choice => {}
        }
        id
    }

    /// Lets an event depend on all that are there.
    fn come_last(&mut self, slot: u32) {
        for thread in 0..self.threads.len() {
            if let Some(last) = self.threads[thread].events.last() {
                self.clocks.join((last.clock, Part::Porf), (slot, Part::Porf));
            }
        }
    }

    /// Adds a read that sees the newest write of its location: as [`Graph::add`] and [`Graph::read_from`].
    #[inline(always)]
    pub fn add_newest_read(&mut self, thread: ThreadId, mut event: Event) -> EventId {
        let newest = self.newest(event.addr);
        event.rf = newest;
        if event.rmw == Rmw::None {
            return self.add(thread, event);
        }
        let Some(value) = event.apply(self.value(event.addr, newest)) else {
            return self.add(thread, event);
        };
        event.value = value;
        event.flags |= Event::UPDATE;
        let read = self.add(thread, event);
        self.locations[event.addr.index()].writes.push(read);
        self.publish(read);
        if self.keeps_porf && !newest.is_init() {
            let (source, slot) = (self.event(newest).clock, self.event(read).clock);
            self.clocks.join((source, Part::Porf), (slot, Part::Porf));
        }
        read
    }

    /// The flags that follow from mode, kind and model.
    #[inline(always)]
    fn add_flags(&self, event: &mut Event) {
        let always = self.synchronisation == Synchronisation::Always;
        let mode = if mutant::is(Mutant::FailureOrderIgnored) { event.mode } else { event.effective_mode() };
        let reads = matches!(event.kind, Kind::Read | Kind::Fence);
        let writes = matches!(event.kind, Kind::Write | Kind::Fence) || event.is_update();
        let mut flags = event.flags & !(Event::ACQUIRES | Event::RELEASES | Event::SEQCST);
        if reads && (always || mode.acquires()) {
            flags |= Event::ACQUIRES;
        }
        if writes && (always || mode.releases()) {
            flags |= Event::RELEASES;
        }
        if mode.is_seqcst() {
            flags |= Event::SEQCST;
        }
        event.flags = flags;
    }

    /// Gives an event the clocks of what is before it: the event before it in its thread, or the spawn.
    #[inline(always)]
    fn inherit_clocks(&mut self, id: EventId, slot: u32, previous: Option<Link>) {
        let known = (id.thread.index(), id.index + 1);
        let spawn = || self.threads[known.0].spawn.map(|spawn| Link::new(self.event(spawn)));
        let Some(previous) = previous.or_else(spawn) else {
            for part in [Part::Hb, Part::Porf] {
                self.clocks.clear(slot, part);
                self.clocks.set(slot, part, known.0, known.1);
            }
            return;
        };
        let Link { clock, source, acquires } = previous;
        let mut source = source.filter(|_| acquires || self.keeps_porf).map(|rf| self.event(rf).clock);
        if self.keeps_porf {
            let source = source.map(|source| (source, Part::Porf));
            self.clocks.follow(clock, source, (slot, Part::Porf), known);
        }
        source = source.filter(|_| acquires);
        let source = source.map(|source| (source, Part::Published));
        self.clocks.follow(clock, source, (slot, Part::Hb), known);
    }

    /// As [`Graph::inherit_clocks`], for an event that is in the graph.
    fn inherit_clocks_again(&mut self, id: EventId, slot: u32) {
        let previous = id.index.checked_sub(1).map(|index| Link::new(self.event(EventId { index, ..id })));
        self.inherit_clocks(id, slot, previous);
    }

    /// Computes what a write publishes.
    #[inline(always)]
    fn publish(&mut self, id: EventId) {
        let event = self.event(id);
        let (slot, rf) = (event.clock, event.rf);
        let (releases, atomic, update) =
            (event.has(Event::RELEASES), event.mode.is_atomic(), event.is_update());
        let fence = self.threads[id.thread.index()].release_fences.last().copied();
        if releases {
            self.clocks.copy((slot, Part::Hb), (slot, Part::Published));
        } else if let (true, Some(fence)) = (atomic, fence) {
            let source = self.event(EventId { index: fence, ..id }).clock;
            self.clocks.copy((source, Part::Hb), (slot, Part::Published));
        } else {
            self.clocks.clear(slot, Part::Published);
        }
        if update && !rf.is_init() && !mutant::is(Mutant::RmwDropsReleaseView) {
            let source = self.event(rf).clock;
            self.clocks.join((source, Part::Published), (slot, Part::Published));
        }
    }

    fn add_fence(&mut self, id: EventId) {
        let thread = id.thread.index();
        let fence = *self.event(id);
        if fence.mode.acquires() {
            let mut index = id.index;
            let start = self.past_of(id.thread);
            loop {
                if index == start {
                    let seen = &self.threads[thread].past.seen;
                    join(self.clocks.get_mut(fence.clock, Part::Hb), seen);
                    break;
                }
                index -= 1;
                let event = *self.event(EventId { index, ..id });
                if event.kind == Kind::Fence && event.mode.acquires() {
                    break;
                }
                if event.is_read() && event.mode.is_atomic() && !event.rf.is_init() {
                    let source = self.event(event.rf).clock;
                    self.clocks.join((source, Part::Published), (fence.clock, Part::Hb));
                }
            }
        }
        if fence.mode.releases() {
            self.threads[thread].release_fences.push(id.index);
        }
    }

    // ---------------------------------------------------------------- reads-from and coherence

    /// The value that a write leaves.
    #[inline(always)]
    pub fn value(&self, addr: Addr, write: EventId) -> Value {
        if write.is_init() { self.locations[addr.index()].init } else { self.event(write).value }
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
    /// that happens before, or that is seen by a read that happens before. Reads in `except`, and
    /// the writes in it, do not count.
    #[inline(always)]
    pub fn floor(&self, addr: Addr, hb: &Clock, except: [EventId; 2]) -> usize {
        let location = &self.locations[addr.index()];
        let mut floor = location.bottom;
        for (i, &write) in location.writes.iter().enumerate().rev() {
            if knows(hb, write) && !except.contains(&write) {
                floor = i + 1;
                break;
            }
        }
        if floor == location.writes.len() {
            return floor;
        }
        for &read in location.reads.iter().rev() {
            if knows(hb, read) && !except.contains(&read) {
                let source = self.event(read).rf;
                if source.is_init() || except.contains(&source) {
                    continue;
                }
                let position = self.position(addr, source);
                if position > floor {
                    floor = position;
                    if floor == location.writes.len() {
                        break;
                    }
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
        let known = self.event_mut(read);
        if known.rmw == Rmw::None {
            known.rf = write;
            return false;
        }
        let mut event = *known;
        let addr = event.addr;
        if event.is_update() {
            self.remove_write(addr, read);
            self.inherit_clocks_again(read, event.clock);
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
        self.add_flags(&mut event);
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
        self.inherit_clocks_again(id, slot);
    }
}
