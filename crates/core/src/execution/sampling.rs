//! New events of executions that are drawn at random.
//!
//! Ops that touch no memory are taken at once, so every thread stands before an access, or a choice that is no number
//! for the program, when one of them is to move. The thread that has reached its op last draws who moves, and goes on without a
//! switch if it is itself.

use super::Execution;
use crate::op::{Kind, Op, Rmw, Site, ThreadId, Value};
use crate::violation::{Point, Waiter};

impl Execution {
    /// As [`Execution::sample`], for a read or a write.
    #[inline(always)]
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

    /// As [`Execution::sample`], for the start of another thread.
    #[inline(never)]
    pub fn sample_spawn(&mut self, thread: ThreadId, site: Site) -> Option<Value> {
        if self.stop.is_some() { None } else { self.perform_within(Kind::Spawn, thread, &Op::spawn(site)) }
    }

    /// As [`Execution::sample`], for waiting until another thread has ended.
    #[inline(never)]
    pub fn sample_join(&mut self, thread: ThreadId, child: ThreadId, site: Site) -> Option<Value> {
        let op = Op::join(child, site);
        if self.stop.is_some() || self.is_obstructed(thread, &op) {
            return None;
        }
        self.perform_within(Kind::Join, thread, &op)
    }

    /// As [`Execution::sample`], for the end of a thread.
    #[inline(never)]
    pub fn sample_finish(&mut self, thread: ThreadId) -> Option<Value> {
        if self.stop.is_some() { None } else { self.perform_within(Kind::Finish, thread, &Op::finish()) }
    }

    /// As [`Execution::op`], for strategies that [sample](Execution::samples).
    #[inline(never)]
    pub fn sample(&mut self, thread: ThreadId, op: &Op) -> Option<Value> {
        if self.stop.is_some() {
            return None;
        }
        let goes_on = match op.kind {
            // A number that a thread draws is nobody else's business, and it may hold a lock that is not seen.
            Kind::Choice if op.draws() => true,
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
            let calm = self.is_calm(thread);
            let settled = calm || self.is_settled(thread);
            let may_wait = op.rmw.may_wait();
            if settled && may_wait && self.is_obstructed(thread, op) {
                return false;
            }
            // To note an op takes time, and most threads that are drawn go on at once.
            if self.compares_ops || may_wait {
                self.ready.set_op(thread, Some(op));
            }
            self.ready.insert_before(thread, op.kind == Kind::Read, may_wait);
            if !calm {
                if !settled || self.closing || !self.ready.unknown.is_empty() {
                    return self.stand(thread, op);
                }
                self.block_obstructed();
            }
            let drawn = self.strategy.pick(&self.graph, &self.ready);
            let Some(drawn) = drawn.filter(|&drawn| drawn == thread || self.ready.contains(drawn)) else {
                drawn.and_then(|drawn| self.go_astray(drawn));
                return self.stand(thread, op);
            };
            self.ready.remove(drawn);
            if drawn != thread {
                self.runnable.insert(drawn);
                self.granted = Some(drawn);
                return self.stand(thread, op);
            }
        }
        self.granted = None;
        op.kind != Kind::Write || op.rmw != Rmw::Lock || self.check_unlock(thread, op).is_some()
    }

    /// Whether all other threads stand before ops that they can take: the usual case, and quick to tell.
    #[inline(always)]
    fn is_calm(&self, thread: ThreadId) -> bool {
        if self.known_threads > 64 {
            return false;
        }
        let moving = self.runnable.low() & !(1 << (thread.0 & 63));
        let others = self.waiting.low() | self.ready.unknown.low() | self.ready.doubtful.low();
        moving | others == 0 && !self.closing
    }

    /// Lets the thread stand before its op: it does not move now.
    #[inline(always)]
    fn stand(&mut self, thread: ThreadId, op: &Op) -> bool {
        self.runnable.remove(thread);
        self.ready.set_op(thread, Some(op));
        false
    }

    /// Whether the op must wait; then the thread does.
    #[inline(always)]
    fn is_obstructed(&mut self, thread: ThreadId, op: &Op) -> bool {
        let Some(wait) = self.obstacle(op) else { return false };
        let point = Point { thread, index: self.progress[thread.index()].pc, site: op.site };
        self.ready.set_op(thread, Some(op));
        self.block(thread, Waiter { point, wait });
        true
    }
}
