//! Loops that wait: where the state of a thread is looked at, and what comes of it.

use unpick_checkers::ghost::{Ghost, Watch};
use unpick_checkers::spin::{self, State};
use unpick_core::op::{Kind, Op, Rmw, ThreadId};

use super::Caller;
use crate::session::Session;

/// A plain write during a round that is being repeated, and what was there before.
#[derive(Debug)]
pub(crate) struct Written {
    address: usize,
    before: Vec<u8>,
}

impl Written {
    /// What some bytes hold that are about to be written to.
    pub(crate) fn new(address: usize, size: usize) -> Written {
        Written { address, before: bytes(address, size).to_vec() }
    }

    /// Whether the bytes hold what they held.
    fn is_as_before(&self) -> bool {
        bytes(self.address, self.before.len()) == self.before
    }

    /// Whether these bytes are among those of the write.
    pub(crate) fn covers(&self, address: usize, size: usize) -> bool {
        self.address <= address && address + size <= self.address + self.before.len()
    }
}

fn bytes<'a>(address: usize, size: usize) -> &'a [u8] {
    // SAFETY: the program writes to these bytes in this round, and they are looked at before it goes on.
    unsafe { std::slice::from_raw_parts(address as *const u8, size) }
}

impl Session {
    /// Looks whether the thread is in a loop that only waits.
    #[inline(never)]
    pub(super) fn watch(&mut self, caller: &Caller, op: &Op, fresh: bool, first: bool) -> Watch {
        let thread = caller.thread;
        if self.spins.any_suspects() {
            if self.spins.ghost.is_some()
                && let done @ (Watch::Answer(_) | Watch::Wait | Watch::Stop) = self.ghost(caller, op, true)
            {
                return done;
            }
            if op.kind != Kind::Read {
                return Watch::Go;
            }
            if !fresh {
                self.note_state(caller, op);
                return Watch::Go;
            }
            if self.spins.is_suspect(op.site) {
                // To look at states is slow, and a loop of an execution that is drawn may go on for a while.
                let graph = self.execution.graph();
                if self.execution.samples() && !self.spins.may_wait(graph, thread, op) {
                    return Watch::Go;
                }
                return self.revisit(caller, op);
            }
        }
        if !self.limits.loops {
            return if fresh { self.cut(thread, op) } else { Watch::Go };
        }
        // How often a thread has a lock of its own is not part of its state.
        if first
            && op.rmw != Rmw::Lock
            && self.spins.looks_at(self.execution.position(thread))
            && self.spins.recurs(self.execution.graph(), thread, op)
        {
            // What is drawn need not begin anew: the place is looked at from now on.
            if self.execution.samples() {
                return Watch::Go;
            }
            self.execution.repeat();
            return Watch::Stop;
        }
        Watch::Go
    }

    /// Notes the state of a thread before a recorded event at a suspect place.
    fn note_state(&mut self, caller: &Caller, op: &Op) {
        let from = self.spins.watch_from(self.execution.graph(), caller.thread);
        if self.execution.position(caller.thread) >= from && self.spins.is_suspect(op.site) {
            let state = self.state(caller, op);
            self.spins.note(caller.thread, &state);
        }
    }

    /// Looks whether the state of a thread at a suspect place has come back.
    #[cold]
    fn revisit(&mut self, caller: &Caller, op: &Op) -> Watch {
        let thread = caller.thread;
        let at = self.execution.position(thread);
        let state = self.state(caller, op);
        if let Some(from) = self.spins.visit(&self.execution, thread, &state) {
            self.ghost_writes.clear();
            let (state, settled, memory, left) = (state.hash(), None, 0, 0);
            let ghost = Ghost { thread, site: op.site, from, at: from, to: at, state, settled, memory, left };
            self.spins.ghost = Some(ghost);
            return self.ghost(caller, op, false);
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

    /// Answers an op of a round that is being repeated. `looks`: the state of the thread is in view.
    pub(super) fn ghost(&mut self, caller: &Caller, op: &Op, looks: bool) -> Watch {
        let Some(ghost) = self.spins.ghost_of(caller.thread) else { return Watch::Go };
        let back = ghost.is_back_at(op) && looks && self.ghost_writes.iter().all(Written::is_as_before);
        let state = back.then(|| self.state(caller, op).hash());
        self.spins.answer(&mut self.execution, ghost, op, state)
    }

    /// Notes what some bytes hold that are about to be written to in a round that is being repeated.
    #[cold]
    pub(super) fn note_ghost_write(&mut self, address: usize, size: usize) {
        if !self.ghost_writes.iter().any(|known| known.covers(address, size)) {
            self.ghost_writes.push(Written::new(address, size));
        }
    }

    /// The thread's live stack and registers.
    fn state<'a>(&self, caller: &Caller, op: &Op) -> State<'a> {
        let top = self.threads[caller.thread.index()].fiber.top;
        // SAFETY: the live part of the running thread's stack, from the saved registers up; it is looked at
        // before the thread is left.
        let live = unsafe { std::slice::from_raw_parts(caller.frame as *const u8, top - caller.frame) };
        State {
            site: op.site,
            at: self.execution.position(caller.thread),
            live,
            gives_up: op.rmw == Rmw::GiveUp,
        }
    }
}
