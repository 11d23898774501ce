//! Rounds of a loop that are repeated, to see whether they change memory.
//!
//! When the state of a thread has come back, its last round is run once more as a *ghost*: each op gets the answer
//! that the recorded event got, and no event is added. If the thread asks for something else, or if memory is not
//! what it was, the loop does more than wait. What memory is, front-ends know. Where they cannot look at it, a loop
//! that gives up after some rounds is told from one that waits by more rounds.
//!
//! A frame holds bytes that nobody has written to, such as padding, and there what earlier calls left. Answers to a
//! ghost leave something else than events do, so the state after its first round may differ from the one before;
//! then the state must come back once more.

use unpick_core::event::{Event, EventId};
use unpick_core::execution::Execution;
use unpick_core::op::{Kind, Op, Site, ThreadId, Value};
use unpick_core::violation::Point;

use crate::spin::Spins;

/// A round that is being repeated.
#[derive(Clone, Copy, Debug)]
pub struct Ghost {
    /// The thread.
    pub thread: ThreadId,
    /// Where it stands.
    pub site: Site,
    /// First event of the round.
    pub from: u32,
    /// The event whose answer comes next.
    pub at: u32,
    /// End of the round.
    pub to: u32,
    /// A hash of the state that came back to the thread.
    pub state: u64,
    /// A hash of its state after the first time, if that was another one.
    pub settled: Option<u64>,
    /// A hash of memory.
    pub memory: u64,
    /// How often the round is repeated after this time.
    pub left: usize,
}

impl Ghost {
    /// Whether the op is the one that the round began with, after its end.
    pub fn is_back_at(&self, op: &Op) -> bool {
        self.at == self.to && op.site == self.site
    }
}

/// What to do about an op of a thread that is looked at.
pub enum Watch {
    /// Take it.
    Go,
    /// The round is being repeated, and this is the answer.
    Answer(Value),
    /// The thread waits until something changes.
    Wait,
    /// The thread does not go on in this run.
    Stop,
}

impl Spins {
    /// The round that a thread repeats.
    pub fn ghost_of(&self, thread: ThreadId) -> Option<Ghost> {
        self.ghost.filter(|ghost| ghost.thread == thread)
    }

    /// Answers an op of a round that is being repeated. `state`: a hash of the thread's state, if it
    /// [is back](Ghost::is_back_at) where the round began and memory is what it was.
    pub fn answer(
        &mut self,
        execution: &mut Execution,
        mut ghost: Ghost,
        op: &Op,
        state: Option<u64>,
    ) -> Watch {
        let Ghost { thread, site, from, to, .. } = ghost;
        let is_back = state.is_some_and(|state| state == ghost.settled.unwrap_or(ghost.state));
        if is_back && ghost.left == 0 {
            self.ghost = None;
            let point = Point { thread, index: to, site };
            return if execution.spin(point, Some(op), from) { Watch::Wait } else { Watch::Go };
        }
        if is_back {
            (ghost.at, ghost.left) = (from, ghost.left - 1);
        } else if state.is_some() && ghost.settled.is_none() {
            (ghost.at, ghost.settled) = (from, state);
        }
        let id = EventId { thread, index: ghost.at };
        let event = (ghost.at < to).then(|| execution.graph().event(id));
        if let Some(event) = event.filter(|event| repeats(event, op)) {
            ghost.at += 1;
            self.ghost = Some(ghost);
            return Watch::Answer(match event.kind {
                Kind::Read => execution.graph().read_value(id),
                _ => event.value,
            });
        }
        self.refute(site, ghost.state);
        execution.repeat();
        Watch::Stop
    }
}

/// Whether the recorded event is what the op asks for, from the same place.
fn repeats(event: &Event, op: &Op) -> bool {
    // An event that is a choice has its bound there.
    let expected = if op.kind == Kind::Choice { op.operand } else { op.expected };
    event.matches(op) && event.site == op.site && event.operand == op.operand && event.expected == expected
}
