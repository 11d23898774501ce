//! Repeating what was recorded: ops are compared with the events that they became before.

use super::{Execution, Repeat};
use crate::event::{Event, EventId};
use crate::op::{Kind, Op, ThreadId, Value};
use crate::outcome::{Divergence, Outcome};

impl Execution {
    #[inline(always)]
    pub(super) fn replay(&mut self, thread: ThreadId, op: &Op) -> Option<Value> {
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
        let id = EventId { thread, index: self.runs[thread.index()].pc };
        let event = *self.graph.event(id);
        if !event.matches(op) {
            return self.diverge(thread, Some(op));
        }
        match event.kind {
            Kind::Read if !event.rf.is_init() && self.runs[event.rf.thread.index()].pc <= event.rf.index => {
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
            let Some(event) = self.rests[thread.index()].waits_for else { continue };
            if self.runs[event.thread.index()].pc > event.index {
                self.waiting.remove(thread);
                self.runnable.insert(thread);
            }
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn diverge(&mut self, thread: ThreadId, now: Option<&Op>) -> Option<Value> {
        let before = self.graph.thread(thread).get(self.runs[thread.index()].pc as usize).copied();
        self.stop.get_or_insert_with(|| {
            Outcome::Diverged(Box::new(Divergence { thread, before, now: now.copied() }))
        });
        None
    }
}
