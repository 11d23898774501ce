//! Loops that wait: where the state of a thread is looked at, and what comes of it.

use unpick_checkers::ghost::{Ghost, Watch};
use unpick_checkers::spin::{self, State};
use unpick_core::op::{Kind, Op, Rmw, ThreadId};

use crate::session::Session;

impl Session {
    /// Looks whether the thread is in a loop that only waits.
    #[inline(always)]
    pub(super) fn watch(&mut self, thread: ThreadId, op: &Op, fresh: bool, stack: usize) -> Watch {
        if stack != 0 {
            self.note(thread, op.site);
            if self.spins.ghost.is_some()
                && let done @ (Watch::Answer(_) | Watch::Wait | Watch::Stop) =
                    self.ghost(thread, op, Some(stack))
            {
                return done;
            }
            if op.kind != Kind::Read {
                if op.kind == Kind::Write {
                    self.look_away(thread);
                }
                return Watch::Go;
            }
            if !fresh {
                self.note_state(thread, op, stack);
                return Watch::Go;
            }
            if self.spins.is_suspect(op.site) {
                return self.revisit(thread, op, stack);
            }
        }
        if !self.limits.loops {
            return if fresh { self.cut(thread, op) } else { Watch::Go };
        }
        if fresh
            && self.spins.looks_at(self.execution.position(thread))
            && self.spins.recurs(self.execution.graph(), thread, op)
        {
            if self.execution.samples() {
                self.look_closely(thread);
                return Watch::Go;
            }
            // What goes round is in the graph by now, if it is not only a read.
            self.renew |= op.rmw == Rmw::Lock;
            self.execution.repeat();
            return Watch::Stop;
        }
        Watch::Go
    }

    /// Looks whether a thread of a sampled execution is in a loop that may only wait; if so, it is watched.
    #[inline(never)]
    pub(super) fn look(&mut self, thread: ThreadId, op: &Op) {
        if self.limits.loops && self.spins.may_wait(self.execution.graph(), thread, op) {
            self.look_closely(thread);
        }
    }

    /// Watches a thread of a sampled execution.
    fn look_closely(&mut self, thread: ThreadId) {
        self.spins.watched.insert(thread);
        self.choose_paths(thread);
    }

    /// Watches it no more, since it has done something.
    fn look_away(&mut self, thread: ThreadId) {
        if self.execution.samples() && self.spins.forgets(thread) {
            self.choose_paths(thread);
        }
    }

    /// Notes the state of a thread before a recorded event at a suspect place.
    #[inline(always)]
    fn note_state(&mut self, thread: ThreadId, op: &Op, stack: usize) {
        let from = self.spins.watch_from(self.execution.graph(), thread);
        if self.execution.position(thread) >= from && self.spins.is_suspect(op.site) {
            let state = self.state(thread, op, stack);
            self.spins.note(thread, &state);
        }
    }

    /// Looks whether the state of a thread at a suspect place has come back.
    #[cold]
    fn revisit(&mut self, thread: ThreadId, op: &Op, stack: usize) -> Watch {
        let at = self.execution.position(thread);
        let state = self.state(thread, op, stack);
        let wiped = self.spins.wipes;
        if let Some(from) = self.spins.visit(&self.execution, thread, &state) {
            let (state, settled, memory) = (state.hash(), None, self.memory());
            // The execution that is thrown away need not be right about it.
            let seen = self.is_on_arenas() && !self.spilled || self.is_trial;
            let left = if seen { 0 } else { self.limits.max_rounds };
            let ghost = Ghost { thread, site: op.site, from, at: from, to: at, state, settled, memory, left };
            self.spins.ghost = Some(ghost);
            return self.ghost(thread, op, None);
        }
        if self.spins.wipes && !wiped && !self.execution.samples() {
            self.renew = true;
            self.execution.repeat();
            return Watch::Stop;
        }
        self.cut(thread, op)
    }

    /// Stops a thread that has gone round too often.
    fn cut(&mut self, thread: ThreadId, op: &Op) -> Watch {
        if !spin::cut(&mut self.execution, thread, op, self.limits.max_rounds) {
            return Watch::Go;
        }
        if !self.cut_loops.contains(&op.site) {
            self.cut_loops.push(op.site);
        }
        Watch::Stop
    }

    /// Answers an op of a round that is being repeated.
    pub(crate) fn ghost(&mut self, thread: ThreadId, op: &Op, stack: Option<usize>) -> Watch {
        let Some(ghost) = self.spins.ghost_of(thread) else { return Watch::Go };
        let stack = stack.filter(|_| ghost.is_back_at(op) && self.memory() == ghost.memory);
        let state = stack.map(|stack| self.state(thread, op, stack).hash());
        self.spins.answer(&mut self.execution, ghost, op, state)
    }

    /// The thread's live stack and registers.
    fn state<'a>(&self, thread: ThreadId, op: &Op, stack: usize) -> State<'a> {
        let base = self.fibers[thread.index()].base();
        // SAFETY: the live part of the running fiber's stack, from the saved registers up; it is
        // looked at before the fiber is left.
        let live = unsafe { std::slice::from_raw_parts(stack as *const u8, base - stack) };
        State { site: op.site, at: self.execution.position(thread), live, gives_up: spin::undoes(op.rmw) }
    }

    /// A hash of the memory of all threads.
    fn memory(&self) -> u64 {
        if !self.is_on_arenas() {
            return 0;
        }
        let seed = self.statics.fingerprint(self.clocks.fingerprint());
        let arenas = self.arenas.iter().chain([&self.common]);
        arenas.flatten().fold(seed, |seed, arena| arena.fingerprint(seed))
    }
}
