//! New events of executions that are drawn at random.
//!
//! Ops that touch no memory are taken at once, so every thread stands before an access or a choice when
//! one of them is to move. The thread that has reached its op last draws who moves, and goes on without a
//! switch if it is itself.

use super::Execution;
use crate::op::{Kind, Op, Rmw, ThreadId, Value};
use crate::violation::{Point, Waiter};

impl Execution {
    /// As [`Execution::sample`], for a read or a write.
    #[inline(never)]
    pub fn sample_access(&mut self, thread: ThreadId, op: &Op) -> Option<Value> {
        if self.stop.is_some() || !self.is_drawn(thread, op) {
            return None;
        }
        if op.kind == Kind::Read {
            self.perform_within(Kind::Read, thread, op)
        } else {
            self.perform_within(Kind::Write, thread, op)
        }
    }

    /// As [`Execution::op`], for strategies that [sample](Execution::samples).
    #[inline(never)]
    pub fn sample(&mut self, thread: ThreadId, op: &Op) -> Option<Value> {
        if self.stop.is_some() {
            return None;
        }
        let goes_on = match op.kind {
            Kind::Read | Kind::Write | Kind::Choice => self.is_drawn(thread, op),
            Kind::Join => !self.is_obstructed(thread, op),
            Kind::Fence | Kind::Spawn | Kind::Finish => true,
        };
        if goes_on { self.perform_within(op.kind, thread, op) } else { None }
    }

    /// Whether the thread is the one that moves. If not, it stands where it is, or waits.
    #[inline(always)]
    fn is_drawn(&mut self, thread: ThreadId, op: &Op) -> bool {
        // One that was drawn before could move then, and nothing has happened since.
        if self.granted != Some(thread) {
            let settled = self.is_settled(thread);
            if settled && op.rmw.may_wait() && self.is_obstructed(thread, op) {
                return false;
            }
            self.ready.insert_before(thread, op);
            self.runnable.remove(thread);
            if !settled || self.closing || !self.ready.unknown.is_empty() {
                return false;
            }
            self.block_obstructed();
            if self.decide() != Some(thread) {
                return false;
            }
        }
        self.granted = None;
        op.kind != Kind::Write || op.rmw != Rmw::Lock || self.check_unlock(thread, op).is_some()
    }

    /// Whether the op must wait; then the thread does.
    #[inline(always)]
    fn is_obstructed(&mut self, thread: ThreadId, op: &Op) -> bool {
        let Some(wait) = self.obstacle(op) else { return false };
        let point = Point { thread, index: self.runs[thread.index()].pc, site: op.site };
        self.ready.set_op(thread, Some(op));
        self.block(thread, Waiter { point, wait });
        true
    }
}
