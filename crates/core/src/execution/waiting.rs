//! Threads that wait: what for, who lets them go on, and what is left of a run that is ended early.

use super::Execution;
use crate::op::{Addr, Kind, Op, Rmw, TAKEN, ThreadId};
use crate::outcome::Outcome;
use crate::violation::{Point, Violation, Wait, Waiter};

impl Execution {
    /// What keeps an op from being taken.
    #[inline(always)]
    pub(super) fn obstacle(&self, op: &Op) -> Option<Wait> {
        if op.kind == Kind::Read && op.rmw.may_wait() {
            let newest = self.graph.newest(op.addr);
            let wait = match op.rmw {
                Rmw::Await => Wait::Signal { addr: op.addr, timed: op.operand != 0 },
                _ => Wait::Lock { addr: op.addr, held_by: newest },
            };
            op.rmw.waits_on(self.graph.value(op.addr, newest)).then_some(wait)
        } else if op.kind == Kind::Join {
            let child = ThreadId(op.operand as u32);
            (!self.graph.is_finished(child)).then_some(Wait::Join(child))
        } else {
            None
        }
    }

    /// Brings up to date who holds the lock that a thread waits for.
    pub(super) fn refresh(&self, mut waiter: Waiter) -> Waiter {
        if let Wait::Lock { addr, held_by } = &mut waiter.wait {
            *held_by = self.graph.newest(*addr);
        }
        waiter
    }

    /// Lets those who wait for a change of a location look again.
    pub fn wake_at(&mut self, at: Addr) {
        self.wake(|wait| match wait {
            Wait::Lock { addr, .. } | Wait::Signal { addr, .. } => *addr == at,
            _ => false,
        });
    }

    #[inline(never)]
    pub(super) fn wake(&mut self, freed: impl Fn(&Wait) -> bool) {
        if self.blocked.is_empty() {
            return;
        }
        for t in 0..self.runs.len() {
            let thread = ThreadId(t as u32);
            if self.blocked.contains(thread) && self.rests[t].blocked.is_some_and(|w| freed(&w.wait)) {
                let wait = self.rests[t].blocked.map(|waiter| waiter.wait);
                let reads = matches!(wait, Some(Wait::Lock { .. } | Wait::Signal { .. }));
                self.rests[t].pending = None;
                self.blocked.remove(thread);
                if reads { self.ready.reads.insert(thread) } else { self.ready.others.insert(thread) }
            }
        }
    }

    /// Ends the run if the thread gives back a lock that it does not hold.
    #[inline(never)]
    pub(super) fn check_unlock(&mut self, thread: ThreadId, op: &Op) -> Option<()> {
        let newest = self.graph.newest(op.addr);
        let problem = if self.graph.value(op.addr, newest) != TAKEN {
            String::from("a lock is given back that nobody holds")
        } else if newest.thread != thread {
            format!("a lock is given back by {thread} that {} holds", newest.thread)
        } else {
            return Some(());
        };
        let point = Point { thread, index: self.runs[thread.index()].pc, site: op.site };
        self.fail(Violation { kind: crate::violation::Kind::BadUnlock { problem }, point });
        None
    }

    /// Ends a run that the strategy has ended: threads whose op is not known yet are asked for it,
    /// and if none of the others could take theirs, they are blocked.
    pub(super) fn close(&mut self) -> Option<ThreadId> {
        self.closing = true;
        let ready = self.ready.reads.iter().chain(self.ready.others.iter());
        let unknown = ready.filter(|thread| self.rests[thread.index()].pending.is_none()).min();
        // A bad unlock is a violation whenever it comes.
        for thread in self.ready.others.iter().collect::<Vec<_>>() {
            if let Some(op) = self.rests[thread.index()].pending
                && op.kind == Kind::Write
                && op.rmw == Rmw::Lock
            {
                self.check_unlock(thread, &op)?;
            }
        }
        if let Some(thread) = unknown {
            self.ready.reads.remove(thread);
            self.ready.others.remove(thread);
            self.runnable.insert(thread);
        } else if !self.block_obstructed() {
            self.stop = Some(Outcome::Ended);
        }
        unknown
    }

    /// Whether no thread that stands before an op could take it; they are blocked then.
    fn block_obstructed(&mut self) -> bool {
        let ready: Vec<ThreadId> = self.ready.reads.iter().chain(self.ready.others.iter()).collect();
        let waiters = ready.iter().map(|&thread| {
            let run = &self.runs[thread.index()];
            let op = self.rests[thread.index()].pending?;
            let wait = self.obstacle(&op)?;
            Some(Waiter { point: Point { thread, index: run.pc, site: op.site }, wait })
        });
        let Some(waiters) = waiters.collect::<Option<Vec<Waiter>>>() else { return false };
        for waiter in waiters {
            self.block(waiter.point.thread, waiter);
        }
        self.ready.reads.clear();
        self.ready.others.clear();
        true
    }
}

/// Whether a thread that is blocked stands before an op which waits for a value.
pub(super) fn is_for_value(wait: &Wait, op: &Op) -> bool {
    matches!(wait, Wait::Lock { .. } | Wait::Signal { .. }) && op.rmw.may_wait()
}
