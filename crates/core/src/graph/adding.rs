//! Adding events: where they go, and what they know.

use super::{Graph, Source, Synchronisation, Thread};
use crate::clock::{Part, join};
use crate::event::{Event, EventId};
use crate::mutant::{self, Mutant};
use crate::op::{Kind, Mode, Op, Rmw, Site, ThreadId, Value};

impl Graph {
    /// Adds the event of an op at the end of a thread. A read gets its source by [`Graph::read_from`], a
    /// write its place by [`Graph::insert_write`].
    #[inline(always)]
    pub fn add(&mut self, thread: ThreadId, op: &Op) -> EventId {
        match op.kind {
            Kind::Read => self.add_read(thread, op, op.operand, EventId::INIT, 0),
            Kind::Write => self.add_write(thread, op),
            _ => self.add_with_value(thread, op, op.operand),
        }
    }

    /// As [`Graph::add`], for ops that are no accesses, with another value: the result of a choice, or the
    /// thread that is spawned.
    pub fn add_with_value(&mut self, thread: ThreadId, op: &Op, value: Value) -> EventId {
        match op.kind {
            Kind::Spawn => self.add_spawn(thread, ThreadId(value as u32), op.site),
            Kind::Join => self.add_join(thread, ThreadId(value as u32), op.site),
            Kind::Finish => self.add_finish(thread),
            Kind::Fence | Kind::Choice | Kind::Read | Kind::Write => {
                let id = self.push(op.kind, thread, op, value, EventId::INIT, 0);
                if op.kind == Kind::Fence {
                    self.add_fence(id);
                } else if op.kind == Kind::Choice && op.rmw == Rmw::GiveUp {
                    self.come_last(id);
                }
                id
            }
        }
    }

    /// Adds that a thread spawns another.
    #[inline(never)]
    pub fn add_spawn(&mut self, thread: ThreadId, child: ThreadId, site: Site) -> EventId {
        debug_assert!(!self.exists(child) && self.thread_len(child) == 0, "{child} is spawned twice");
        let op = Op::spawn(site);
        let id = self.push(Kind::Spawn, thread, &op, child.0.into(), EventId::INIT, 0);
        if child.index() >= self.threads.len() {
            self.threads.resize_with(child.index() + 1, Thread::default);
            self.clocks.widen(child.index() + 1);
        }
        self.threads[child.index()].spawn = Some(id);
        id
    }

    /// Adds that a thread has waited for another, which has ended.
    #[inline(never)]
    pub fn add_join(&mut self, thread: ThreadId, child: ThreadId, site: Site) -> EventId {
        debug_assert!(self.is_finished(child), "{child} is joined before its end");
        let op = Op::join(child, site);
        let id = self.push(Kind::Join, thread, &op, child.0.into(), EventId::INIT, 0);
        let last = EventId::new(child, self.thread_len(child) - 1);
        let (source, slot) = (self.event(last).clock, self.event(id).clock);
        self.clocks.join((source, Part::Hb), (slot, Part::Hb));
        if self.keeps_porf {
            self.clocks.join((source, Part::Porf), (slot, Part::Porf));
        }
        self.joins.push((child, id));
        id
    }

    /// Adds that a thread ends.
    #[inline(never)]
    pub fn add_finish(&mut self, thread: ThreadId) -> EventId {
        self.push(Kind::Finish, thread, &Op::finish(), 0, EventId::INIT, 0)
    }

    /// Adds a read; `update` is [`Event::UPDATE`] or 0.
    #[inline(never)]
    fn add_read(&mut self, thread: ThreadId, op: &Op, value: Value, rf: EventId, update: u8) -> EventId {
        let id = self.push(Kind::Read, thread, op, value, rf, update);
        self.locations[op.addr.index()].reads.push(id);
        self.plain |= op.mode == Mode::Plain;
        id
    }

    #[inline(never)]
    fn add_write(&mut self, thread: ThreadId, op: &Op) -> EventId {
        let id = self.push(Kind::Write, thread, op, op.operand, EventId::INIT, 0);
        self.plain |= op.mode == Mode::Plain;
        self.publish(id);
        id
    }

    /// Puts an event at the end of a thread. It is made in its place, and there is a copy of this for each
    /// kind of access: anything else shows in profiles.
    #[inline(always)]
    fn push(
        &mut self,
        kind: Kind,
        thread: ThreadId,
        op: &Op,
        value: Value,
        rf: EventId,
        update: u8,
    ) -> EventId {
        debug_assert!(self.exists(thread) && !self.is_finished(thread), "{thread} cannot have an event");
        let slot = self.clocks.push();
        let part = &self.threads[thread.index()];
        let index = part.base + part.events.len() as u32;
        let id = EventId { thread, index };
        match part.events.last() {
            Some(previous) => self.follow(previous.clock, self.lesson(previous), id, slot),
            None => self.inherit_clocks(thread, index, slot),
        }
        let &Op { rmw, mode, failure, addr, site, .. } = op;
        let flags = update | if op.pointer { Event::POINTER } else { 0 };
        let flags = self.with_effects(flags, (kind, rmw), (mode, failure));
        let part = &mut self.threads[thread.index()];
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
        id
    }

    /// Lets an event come after all that are there, and know of them.
    #[cold]
    fn come_last(&mut self, id: EventId) {
        let slot = self.event(id).clock;
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

    /// Adds a read that sees the newest write of its location, which is `source`: as [`Graph::add`] and
    /// [`Graph::read_from`]. Returns what it writes, if it does.
    #[inline(always)]
    pub fn add_newest_read(
        &mut self,
        thread: ThreadId,
        op: &Op,
        source: &Source,
    ) -> (EventId, Option<Value>) {
        let newest = source.write;
        let written = if op.rmw == Rmw::None { None } else { op.apply(source.value) };
        let Some(value) = written else {
            return (self.add_read(thread, op, op.operand, newest, 0), None);
        };
        let read = self.add_read(thread, op, value, newest, Event::UPDATE);
        self.locations[op.addr.index()].writes.push(read);
        self.publish(read);
        if self.keeps_porf && !newest.is_init() {
            let (source, slot) = (self.event(newest).clock, self.event(read).clock);
            self.clocks.join((source, Part::Porf), (slot, Part::Porf));
        }
        (read, written)
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

    /// Gives the event at a place of a thread the clocks of what is before it: the event before it in its
    /// thread, or the spawn.
    #[inline(never)]
    pub(super) fn inherit_clocks(&mut self, thread: ThreadId, index: u32, slot: u32) {
        let previous = match index.checked_sub(1) {
            Some(index) => Some(self.event(EventId { thread, index })),
            None => self.threads[thread.index()].spawn.map(|spawn| self.event(spawn)),
        };
        let Some(previous) = previous else {
            for part in [Part::Hb, Part::Porf] {
                self.clocks.start_at(slot, part, thread.index());
            }
            return;
        };
        self.follow(previous.clock, self.lesson(previous), EventId { thread, index }, slot);
    }

    /// What comes after an event learns from the write that it saw: the clocks of the write, and whether
    /// it happens before.
    #[inline(always)]
    fn lesson(&self, event: &Event) -> Option<(u32, bool)> {
        let acquires = event.has(Event::ACQUIRES);
        let learns = event.is_read() && !event.rf.is_init() && (acquires || self.keeps_porf);
        if learns { Some((self.event(event.rf).clock, acquires)) } else { None }
    }

    /// Makes the clocks of an event out of those of the event before it and what that one has learnt.
    #[inline(always)]
    fn follow(&mut self, from: u32, lesson: Option<(u32, bool)>, id: EventId, slot: u32) {
        self.clocks.follow(from, lesson, slot, self.keeps_porf, id.thread.index());
        debug_assert_eq!(self.clocks.get(slot, Part::Hb)[id.thread.index()], id.index + 1);
    }

    /// Computes what a write publishes.
    #[inline(always)]
    pub(super) fn publish(&mut self, id: EventId) {
        let event = self.event(id);
        let (slot, rf) = (event.clock, event.rf);
        let (releases, atomic, update) =
            (event.has(Event::RELEASES), event.mode.is_atomic(), event.is_update());
        let fence = || self.threads[id.thread.index()].release_fences.last().filter(|_| atomic);
        if releases {
            self.clocks.copy((slot, Part::Hb), (slot, Part::Published));
        } else if let Some(&fence) = fence() {
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

    #[inline(never)]
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
