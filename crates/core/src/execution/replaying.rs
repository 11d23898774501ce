//! Repeating what was recorded: ops are compared with the events that they became before.

use super::{Execution, Repeat};
use crate::event::{Event, EventId};
use crate::op::{Kind, Op, ThreadId, Value};
use crate::outcome::{Divergence, Outcome};

impl Execution {
    /// Says whether memory has the same addresses in every run; if not, recorded addresses are
    /// brought up to date by replay instead of being compared.
    pub fn set_stable_addresses(&mut self, stable: bool) {
        self.stable_addresses = stable;
    }

    /// Whether memory has the same addresses in every run.
    pub fn has_stable_addresses(&self) -> bool {
        self.stable_addresses
    }

    /// Takes one op of a thread if it repeats what was recorded and need not wait: what [`Execution::op`]
    /// does most of the time. If not, nothing has happened. Takes no memory.
    #[inline(always)]
    pub fn repeat_op(&mut self, thread: ThreadId, op: &Op) -> Repeat {
        match op.kind {
            Kind::Read | Kind::Write => self.repeat_access(thread, op),
            Kind::Spawn => self.repeat_spawn(thread).map_or(Repeat::No, |child| Repeat::Done(child.0.into())),
            Kind::Finish => match self.repeat_finish(thread) {
                true => Repeat::Done(0),
                false => Repeat::No,
            },
            Kind::Join => self.repeat_join(thread, ThreadId(op.operand as u32)),
            Kind::Fence | Kind::Choice => match self.next_recorded(thread) {
                Some(event) if event.matches(op) => {
                    let value = if event.kind == Kind::Choice { event.value } else { 0 };
                    self.progress[thread.index()].pc += 1;
                    Repeat::Done(value)
                }
                _ => Repeat::No,
            },
        }
    }

    /// The event that a thread is to repeat next, if it may.
    #[inline(always)]
    fn next_recorded(&self, thread: ThreadId) -> Option<&Event> {
        let run = self.progress.get(thread.index())?;
        if run.pc >= run.free {
            return None;
        }
        self.graph.kept_event(EventId { thread, index: run.pc })
    }

    /// [`Execution::repeat_op`] of a read or a write.
    #[inline(always)]
    pub fn repeat_access(&mut self, thread: ThreadId, op: &Op) -> Repeat {
        let Some(event) = self.next_recorded(thread) else { return Repeat::No };
        if !event.matches(op) {
            return Repeat::No;
        }
        let value = if event.kind == Kind::Read {
            if event.operand != op.operand || event.expected != op.expected {
                return Repeat::No;
            }
            let rf = event.rf;
            if rf.is_init() {
                self.graph.location(op.addr).init
            } else if self.progress.get(rf.thread.index()).is_none_or(|run| run.pc <= rf.index) {
                return Repeat::After(rf);
            } else if let Some(write) = self.graph.kept_event(rf) {
                write.value
            } else {
                return Repeat::No;
            }
        } else if event.kind == Kind::Write && event.value == op.operand {
            0
        } else {
            return Repeat::No;
        };
        self.progress[thread.index()].pc += 1;
        Repeat::Done(value)
    }

    /// Repeats that a thread spawns another, if that was recorded.
    #[inline(always)]
    pub fn repeat_spawn(&mut self, thread: ThreadId) -> Option<ThreadId> {
        let event = self.next_recorded(thread).filter(|event| event.kind == Kind::Spawn)?;
        let child = ThreadId(event.value as u32);
        if !self.runnable.has_room(child) {
            return None;
        }
        self.progress.get_mut(child.index())?.started = true;
        self.runnable.insert(child);
        let run = &mut self.progress[thread.index()];
        run.spawned += 1;
        run.pc += 1;
        Some(child)
    }

    /// Repeats that a thread waits for another to end.
    #[inline(always)]
    fn repeat_join(&mut self, thread: ThreadId, child: ThreadId) -> Repeat {
        let joins = |event: &Event| event.kind == Kind::Join && event.value == u64::from(child.0);
        if !self.next_recorded(thread).is_some_and(joins) {
            return Repeat::No;
        }
        let len = self.graph.thread_len(child) as u32;
        match self.progress.get(child.index()) {
            None => return Repeat::No,
            Some(run) if run.pc < len => return Repeat::After(EventId { thread: child, index: len - 1 }),
            Some(_) => {}
        }
        self.progress[thread.index()].pc += 1;
        Repeat::Done(0)
    }

    /// Repeats that a thread ends, if that was recorded.
    #[inline(always)]
    pub fn repeat_finish(&mut self, thread: ThreadId) -> bool {
        let ends = self.next_recorded(thread).is_some_and(|event| event.kind == Kind::Finish);
        if ends {
            self.progress[thread.index()].pc += 1;
            self.runnable.remove(thread);
        }
        ends
    }

    /// Stops a thread until the event that its op depends on has been repeated: see [`Repeat::After`].
    #[inline(never)]
    pub fn wait_for(&mut self, thread: ThreadId, event: EventId) {
        self.standing[thread.index()].waits_for = Some(event);
        self.runnable.remove(thread);
        self.waiting.insert(thread);
        self.awaited.insert(event.thread);
    }

    /// The thread whose event was the next to take effect, if it stands before it.
    pub(super) fn whose_turn(&self) -> Option<ThreadId> {
        let id = self.graph.order().get(self.repeated)?;
        let stands = self.waiting.contains(id.thread) && self.progress[id.thread.index()].pc == id.index;
        stands.then_some(id.thread)
    }

    /// Lets a thread repeat one event, if its turn has come: all others stand before theirs. If not, it waits.
    fn take_turn(&mut self, thread: ThreadId) -> Option<()> {
        let pc = self.progress[thread.index()].pc;
        let next = self.graph.order().get(self.repeated) == Some(&EventId { thread, index: pc });
        if next && self.runnable.is_within(thread) {
            self.repeated += 1;
            self.progress[thread.index()].free = pc + 1;
            return Some(());
        }
        self.standing[thread.index()].waits_for = None;
        self.runnable.remove(thread);
        self.waiting.insert(thread);
        None
    }

    #[inline(always)]
    pub(super) fn replay(&mut self, thread: ThreadId, op: &Op) -> Option<Value> {
        let run = &self.progress[thread.index()];
        if run.pc >= run.free {
            if self.takes_turns() {
                self.hold(thread);
                return None;
            }
            self.take_turn(thread)?;
        }
        match self.repeat_op(thread, op) {
            Repeat::Done(value) => Some(value),
            Repeat::After(event) => {
                self.wait_for(thread, event);
                None
            }
            Repeat::No => self.replay_slowly(thread, op),
        }
    }

    /// Makes it possible to repeat an op that could not be repeated, or says what is in the way.
    #[cold]
    #[inline(never)]
    fn replay_slowly(&mut self, thread: ThreadId, op: &Op) -> Option<Value> {
        let id = EventId { thread, index: self.progress[thread.index()].pc };
        let event = *self.graph.event(id);
        if !event.matches(op) {
            return self.diverge(thread, Some(op));
        }
        match event.kind {
            Kind::Read
                if !event.rf.is_init() && self.progress[event.rf.thread.index()].pc <= event.rf.index =>
            {
                self.wait_for(thread, event.rf);
                return None;
            }
            Kind::Read | Kind::Write => self.amend(id, op)?,
            Kind::Spawn => self.activate(ThreadId(event.value as u32)),
            _ => return self.diverge(thread, Some(op)),
        }
        self.replay(thread, op)
    }

    /// Brings a recorded address up to date; other values must not have changed.
    #[cold]
    #[inline(never)]
    fn amend(&mut self, id: EventId, op: &Op) -> Option<()> {
        let event = *self.graph.event(id);
        if self.stable_addresses || !event.has(Event::POINTER) {
            self.diverge(id.thread, Some(op));
            return None;
        }
        let old = if event.is_read() { self.graph.read_value(id) } else { 0 };
        let event = self.graph.event_mut(id);
        event.operand = op.operand;
        event.expected = op.expected;
        event.value = if event.is_update() { event.apply(old).unwrap_or(op.operand) } else { op.operand };
        Some(())
    }

    #[inline(never)]
    pub(super) fn wake_replays(&mut self) {
        let mut next = self.waiting.first();
        while let Some(thread) = next {
            next = self.waiting.after(thread);
            let Some(event) = self.standing[thread.index()].waits_for else { continue };
            if self.progress[event.thread.index()].pc > event.index {
                self.waiting.remove(thread);
                self.runnable.insert(thread);
            }
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn diverge(&mut self, thread: ThreadId, now: Option<&Op>) -> Option<Value> {
        let before = self.graph.thread(thread).get(self.progress[thread.index()].pc as usize).copied();
        self.stop.get_or_insert_with(|| {
            Outcome::Diverged(Box::new(Divergence { thread, before, now: now.copied() }))
        });
        None
    }
}
