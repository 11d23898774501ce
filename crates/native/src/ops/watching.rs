//! Loops that wait: where the state of a thread is looked at, and what comes of it.

use unpick_core::execution::Outcome;
use unpick_core::op::{Kind, Op, ThreadId};
use unpick_loops::{Ahead, Arrival, Review, Step, Trial};

use super::Caller;
use crate::session::Session;
use crate::trial;

/// What to do about an op of a thread that is looked at.
pub(super) enum Watch {
    /// Take it.
    Go,
    /// The thread is left, and comes back to the same op.
    Leave,
    /// The thread does not go on in this run.
    Stop,
}

impl Session {
    /// Looks whether the thread is in a loop that only waits. `first`: it has just come here.
    #[inline(never)]
    pub(super) fn watch(&mut self, caller: &Caller, op: &Op, fresh: bool, first: bool) -> Watch {
        let thread = caller.thread;
        if op.kind != Kind::Read {
            return Watch::Go;
        }
        if self.loops.places.is_suspect(op.site) {
            return self.arrive(caller, op, fresh);
        }
        if !self.limits.loops {
            return if fresh { self.cut(thread, op) } else { Watch::Go };
        }
        if fresh && first {
            self.loops.suspect(&mut self.execution, thread, op);
        }
        if self.execution.is_stopped() { Watch::Stop } else { Watch::Go }
    }

    /// A thread comes to a suspect place.
    #[inline(never)]
    fn arrive(&mut self, caller: &Caller, op: &Op, fresh: bool) -> Watch {
        let thread = caller.thread;
        if self.loops.is_pointless(&self.execution, thread, op.site, self.limits.max_rounds) {
            return Watch::Go;
        }
        // SAFETY: the entry of the call has left the registers there.
        if !fresh && unsafe { self.loops.pass(&self.execution, thread, op, caller.frame) } {
            return Watch::Go;
        }
        // SAFETY: as above.
        let frame = unsafe { self.loops.frame(thread, op.site, caller.frame, &trial::returns) };
        let arrival = Arrival { thread, op, frame, hidden: self.hidden(thread) };
        if !fresh {
            // Addresses are the same in every run, so there is nothing to be tried here.
            self.loops.note(&self.execution, &arrival);
            return Watch::Go;
        }
        match self.loops.arrive(&mut self.execution, &arrival) {
            Step::Go { .. } => match self.loops.look_ahead(&self.execution, &arrival, self.limits.max_rounds)
            {
                Ahead::Go => Watch::Go,
                Ahead::Cut => self.cut(thread, op),
                Ahead::Try(trial) => self.leave_to_try(caller, trial),
            },
            Step::Wait => Watch::Leave,
            Step::Try(trial) => self.leave_to_try(caller, trial),
        }
    }

    /// The explorer is to try a round of the caller.
    fn leave_to_try(&mut self, caller: &Caller, trial: Trial) -> Watch {
        self.loops.trial = Some(trial);
        self.threads[caller.thread.index()].call = caller.call;
        Watch::Leave
    }

    /// Looks at how an execution has ended: if others notice more rounds of a loop than was known, the search starts over.
    pub(crate) fn review(&mut self, outcome: Outcome) -> Outcome {
        match self.loops.review(&mut self.execution, &outcome) {
            Review::StartOver => {
                self.renew = true;
                return Outcome::Again;
            }
            Review::TooMany(site) if !self.cut_loops.contains(&site) => self.cut_loops.push(site),
            _ => {}
        }
        outcome
    }

    /// Cuts a loop that goes round too often.
    fn cut(&mut self, thread: ThreadId, op: &Op) -> Watch {
        if !self.loops.cut(&mut self.execution, thread, op, self.limits.max_rounds) {
            return Watch::Go;
        }
        if !self.cut_loops.contains(&op.site) {
            self.cut_loops.push(op.site);
        }
        Watch::Stop
    }

    /// A number for what belongs to the state of a thread and is not in memory: its clock, if anybody looks at one, what random
    /// numbers come next, and where files stand.
    pub(crate) fn hidden(&mut self, thread: ThreadId) -> u64 {
        let mut unseen = self.threads[thread.index()].unseen();
        if !self.reads_clock {
            unseen.clock = 0;
        }
        if self.seeks.any() {
            unseen.offsets = self.seeks.offsets(thread);
        }
        self.unseen.of(unseen)
    }
}
