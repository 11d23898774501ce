//! Adding events: where they go, and what they know.

use super::{Graph, Link, Synchronisation, Thread};
use crate::clock::{Part, join};
use crate::event::{Event, EventId};
use crate::mutant::{self, Mutant};
use crate::op::{Kind, Mode, Op, Rmw, ThreadId, Value};

impl Graph {
    /// Adds the event of an op at the end of a thread. A read gets its source by [`Graph::read_from`], a
    /// write its place by [`Graph::insert_write`].
    #[inline(always)]
    pub fn add(&mut self, thread: ThreadId, op: &Op) -> EventId {
        self.add_event(thread, op, op.operand, EventId::INIT, 0)
    }

    /// As [`Graph::add`], with another value: the result of a choice, or the thread that is spawned.
    #[inline(always)]
    pub fn add_with_value(&mut self, thread: ThreadId, op: &Op, value: Value) -> EventId {
        self.add_event(thread, op, value, EventId::INIT, 0)
    }

    /// Adds an event; `update` is [`Event::UPDATE`] or 0. The event is made in its place: building it
    /// elsewhere and copying it shows in profiles.
    #[inline(never)]
    fn add_event(&mut self, thread: ThreadId, op: &Op, value: Value, rf: EventId, update: u8) -> EventId {
        let slot = self.clocks.push();
        let &Op { kind, rmw, mode, failure, addr, site, .. } = op;
        let flags = update | if op.pointer { Event::POINTER } else { 0 };
        let flags = self.with_effects(flags, (kind, rmw), (mode, failure));
        let part = &mut self.threads[thread.index()];
        let index = part.base + part.events.len() as u32;
        let id = EventId { thread, index };
        let previous = part.events.last().map(Link::new);
        if mode == Mode::SeqCst || failure == Mode::SeqCst {
            self.seqcst += 1;
            part.seqcst.push(index);
        }
        part.events.push(Event {
            value,
            operand: op.operand,
            expected: op.expected,
            site,
            rf,
            addr,
            stamp: self.order.len() as u32,
            clock: slot,
            kind,
            rmw,
            mode,
            failure,
            width: op.width,
            flags,
        });
        self.order.push(id);
        self.inherit_clocks(id, slot, previous);
        match kind {
            Kind::Read => {
                self.locations[addr.index()].reads.push(id);
                self.plain |= mode == Mode::Plain;
            }
            Kind::Write => {
                self.plain |= mode == Mode::Plain;
                self.publish(id);
            }
            Kind::Fence => self.add_fence(id),
            Kind::Join => {
                let child = ThreadId(value as u32);
                let last = EventId::new(child, self.thread_len(child) - 1);
                let source = self.event(last).clock;
                self.clocks.join((source, Part::Hb), (slot, Part::Hb));
                if self.keeps_porf {
                    self.clocks.join((source, Part::Porf), (slot, Part::Porf));
                }
                self.threads[child.index()].join = Some(id);
            }
            Kind::Spawn => {
                let child = value as usize;
                if child >= self.threads.len() {
                    self.threads.resize_with(child + 1, Thread::default);
                    self.clocks.widen(child + 1);
                }
                self.threads[child].spawn = Some(id);
            }
            Kind::Choice if rmw == Rmw::GiveUp => self.come_last(slot),
            Kind::Finish | Kind::Choice => {}
        }
        id
    }

    /// Lets an event come after all that are there, and know of them.
    #[cold]
    fn come_last(&mut self, slot: u32) {
        for thread in 0..self.threads.len() {
            if let Some(last) = self.threads[thread].events.last() {
                let source = last.clock;
                self.clocks.join((source, Part::Hb), (slot, Part::Hb));
                if self.keeps_porf {
                    self.clocks.join((source, Part::Porf), (slot, Part::Porf));
                }
            }
        }
    }

    /// Adds a read that sees the newest write of its location: as [`Graph::add`] and [`Graph::read_from`].
    #[inline(always)]
    pub fn add_newest_read(&mut self, thread: ThreadId, op: &Op) -> EventId {
        let newest = self.newest(op.addr);
        let written = if op.rmw == Rmw::None { None } else { op.apply(self.value(op.addr, newest)) };
        let Some(value) = written else {
            return self.add_event(thread, op, op.operand, newest, 0);
        };
        let read = self.add_event(thread, op, value, newest, Event::UPDATE);
        self.locations[op.addr.index()].writes.push(read);
        self.publish(read);
        if self.keeps_porf && !newest.is_init() {
            let (source, slot) = (self.event(newest).clock, self.event(read).clock);
            self.clocks.join((source, Part::Porf), (slot, Part::Porf));
        }
        read
    }

    /// Adds the flags that follow from mode, kind and model.
    #[inline(always)]
    pub(super) fn with_effects(
        &self,
        flags: u8,
        (kind, rmw): (Kind, Rmw),
        (mode, failure): (Mode, Mode),
    ) -> u8 {
        let updates = flags & Event::UPDATE != 0;
        let fails = kind == Kind::Read && rmw != Rmw::None && !updates;
        let as_success = !fails || mutant::is(Mutant::FailureOrderIgnored);
        let mut can = Event::flags_of(if as_success { mode } else { failure });
        if self.synchronisation == Synchronisation::Always {
            can |= Event::ACQUIRES | Event::RELEASES;
        }
        let does = match kind {
            Kind::Read if updates => Event::ACQUIRES | Event::RELEASES,
            Kind::Read => Event::ACQUIRES,
            Kind::Write => Event::RELEASES,
            Kind::Fence => Event::ACQUIRES | Event::RELEASES,
            _ => 0,
        };
        let all = Event::ACQUIRES | Event::RELEASES | Event::SEQCST;
        (flags & !all) | (can & (does | Event::SEQCST))
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
        let source =
            source.filter(|_| acquires || self.keeps_porf).map(|rf| (self.event(rf).clock, acquires));
        self.clocks.follow(clock, source, slot, self.keeps_porf, known);
    }

    /// As [`Graph::inherit_clocks`], for an event that is in the graph.
    pub(super) fn inherit_clocks_again(&mut self, id: EventId, slot: u32) {
        let previous = id.index.checked_sub(1).map(|index| Link::new(self.event(EventId { index, ..id })));
        self.inherit_clocks(id, slot, previous);
    }

    /// Computes what a write publishes.
    #[inline(always)]
    pub(super) fn publish(&mut self, id: EventId) {
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
}
