//! `pos`: priorities of accesses, drawn anew when accesses race.
//!
//! Each access before which a thread stands has a random priority, and the highest one takes place. Then
//! priorities are drawn anew for the thread that moved, and for all whose access races with the one
//! that took place: same location, one of them a write. Accesses that do not race leave each other's
//! order alone, so steps that do not matter add no bias.
//! From Yuan, Yang and Gu, "Partial order aware concurrency sampling" (CAV 2018).

use unpick_core::coverage::Coverage;
use unpick_core::graph::Graph;
use unpick_core::op::{Kind, Op, Rmw, ThreadId};
use unpick_core::strategy::Ready;

use crate::sample::{Draw, Policy};

/// Priorities of the accesses before which threads stand; 0 is one that was not drawn yet.
#[derive(Debug, Default)]
pub(super) struct Priorities(Vec<u64>);

impl Priorities {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The priority of a thread's access.
    #[inline(always)]
    pub(super) fn of(&mut self, thread: ThreadId, draw: &mut Draw) -> u64 {
        if thread.index() >= self.0.len() {
            self.0.resize(thread.index() + 1, 0);
        }
        let priority = &mut self.0[thread.index()];
        if *priority == 0 {
            *priority = draw.number() | 1;
        }
        *priority
    }

    /// The access of `thread` takes place: priorities that race are to be drawn anew.
    #[inline(always)]
    pub(super) fn taken(&mut self, thread: ThreadId, ready: &Ready) {
        let op = ready.op(thread);
        for (t, priority) in self.0.iter_mut().enumerate().filter(|(_, priority)| **priority != 0) {
            let other = ThreadId(t as u32);
            let race = || op.zip(ready.op(other)).is_some_and(|(a, b)| races(a, b));
            if other == thread || race() {
                *priority = 0;
            }
        }
    }
}

/// Whether two ops access one location, and one may write.
#[inline(always)]
pub(super) fn races(a: &Op, b: &Op) -> bool {
    let accesses = |op: &Op| matches!(op.kind, Kind::Read | Kind::Write);
    let may_write = |op: &Op| op.kind == Kind::Write || op.rmw != Rmw::None;
    accesses(a) && accesses(b) && a.addr == b.addr && (may_write(a) || may_write(b))
}

/// The policy.
#[derive(Debug, Default)]
pub(crate) struct Pos {
    priorities: Priorities,
}

impl Policy for Pos {
    fn name(&self) -> &'static str {
        "pos"
    }

    fn begin(&mut self, _: &Coverage, _: &mut Draw) {
        self.priorities.clear();
    }

    fn pick(&mut self, _: &Graph, ready: &Ready, draw: &mut Draw) -> ThreadId {
        let mut best = (0, ThreadId::MAIN);
        for thread in ready.others.iter().chain(ready.reads.iter()) {
            best = best.max((self.priorities.of(thread, draw), thread));
        }
        self.priorities.taken(best.1, ready);
        best.1
    }

    fn end(&mut self, _: &Graph, _: &Coverage, _: bool, _: u64) {}
}
