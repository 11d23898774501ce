//! Loops that wait: where the state of a thread is looked at, and what comes of it.

use unpick_core::execution::Outcome;
use unpick_core::mutant::{self, Mutant};
use unpick_core::op::{Kind, Op, ThreadId};
use unpick_loops::{Ahead, Arrival, DRAWN_ROUNDS, Review, Step};

use crate::arena::Arena;
use crate::session::Session;
use crate::trial;

/// What to do about an op of a thread that is looked at.
pub(crate) enum Watch {
    /// Take it.
    Go,
    /// The thread waits until something changes.
    Wait,
    /// The thread does not go on in this run.
    Stop,
    /// A round is to be tried before the thread goes on.
    Try,
}

impl Session {
    /// Looks whether the thread is in a loop that only waits. `arena`: what its code allocates from.
    #[inline(always)]
    pub(super) fn watch(
        &mut self,
        thread: ThreadId,
        op: &Op,
        fresh: bool,
        stack: usize,
        arena: *mut Arena,
    ) -> Watch {
        if stack != 0 {
            self.note(thread, op.site);
            if op.kind != Kind::Read {
                return Watch::Go;
            }
            if self.loops.places.is_suspect(op.site) {
                self.trials.arena = arena;
                return self.arrive(thread, op, fresh, stack);
            }
        }
        if !self.limits.loops {
            return if fresh { self.cut(thread, op) } else { Watch::Go };
        }
        if fresh {
            self.look(thread, op);
        }
        if self.execution.is_stopped() { Watch::Stop } else { Watch::Go }
    }

    /// Whether it is to be found out if the thread goes round here. A place that is suspect already is watched from where on
    /// that is of use. In executions that are drawn at random one of eight events is looked at, which is every event of a loop
    /// now and then, however many there are in a round.
    #[inline(always)]
    fn may_go_round(&self, thread: ThreadId, op: &Op) -> bool {
        if !self.execution.samples() {
            return !self.loops.places.is_suspect(op.site);
        }
        let position = self.execution.position(thread);
        position >= DRAWN_ROUNDS as u32 && position.wrapping_mul(0x9e37_79b9) < 1 << 29
    }

    /// Looks whether a thread goes round; if so, it is watched. The run goes on: what a program has locked or changed
    /// outside of what is put back must not be left behind for a suspicion.
    #[inline(always)]
    pub(super) fn look(&mut self, thread: ThreadId, op: &Op) {
        if self.limits.loops
            && self.may_go_round(thread, op)
            && self.loops.suspect(&mut self.execution, thread, op)
        {
            self.look_closely(thread);
        }
    }

    /// Watches a thread that was not watched so far.
    #[cold]
    fn look_closely(&mut self, thread: ThreadId) {
        self.watched.insert(thread);
        self.choose_paths(thread);
    }

    /// Watches it no more, since it does something.
    fn look_away(&mut self, thread: ThreadId) {
        self.watched.remove(thread);
        self.choose_paths(thread);
    }

    /// A thread comes to a suspect place.
    #[inline(never)]
    fn arrive(&mut self, thread: ThreadId, op: &Op, fresh: bool, stack: usize) -> Watch {
        if self.loops.is_pointless(&self.execution, thread, op.site, self.limits.max_rounds) {
            return Watch::Go;
        }
        // SAFETY: the entry of the op has left the registers there.
        if !fresh && unsafe { self.loops.pass(&self.execution, thread, op, stack) } {
            return Watch::Go;
        }
        // SAFETY: as above.
        let frame = unsafe { self.loops.frame(thread, op.site, stack, &trial::returns) };
        let arrival = Arrival { thread, op, frame, hidden: self.hidden(thread) };
        if !fresh {
            self.loops.trial = self.loops.note(&self.execution, &arrival);
            return if self.loops.trial.is_some() { Watch::Try } else { Watch::Go };
        }
        match self.loops.arrive(&mut self.execution, &arrival) {
            Step::Go { idle } => {
                if !idle && self.execution.samples() {
                    self.look_away(thread);
                }
                match self.loops.look_ahead(&self.execution, &arrival, self.limits.max_rounds) {
                    Ahead::Go => Watch::Go,
                    Ahead::Cut => self.cut(thread, op),
                    Ahead::Try(trial) => {
                        self.loops.trial = Some(trial);
                        Watch::Try
                    }
                }
            }
            Step::Wait => Watch::Wait,
            Step::Try(trial) => {
                self.loops.trial = Some(trial);
                Watch::Try
            }
        }
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

    /// What belongs to the state of a thread and is not in memory: its clock if anybody reads one, how many of its blocks
    /// are allocated, and how many thread-locals it has. What others have is none of that: when they come by it depends on
    /// the schedule. Rounds that free blocks of others are never idle.
    fn hidden(&self, thread: ThreadId) -> u64 {
        if mutant::is(Mutant::HiddenStateIgnored) {
            return 0;
        }
        let arena = self.arenas.get(thread.index()).and_then(Option::as_ref);
        let counts = [arena.map_or(0, |arena| arena.live as u64), self.locals.count(thread) as u64];
        let mix = |sum: u64, count| sum.wrapping_mul(31).wrapping_add(count);
        counts.into_iter().fold(self.clocks.fingerprint(thread), mix)
    }
}
