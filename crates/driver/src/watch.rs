//! Loops that wait: where the state of a thread is looked at, and what comes of it.

use unpick_core::op::{Kind, Op, ThreadId};
use unpick_loops::{Ahead, Arrival, DRAWN_ROUNDS, Step};

use crate::Frontend;
use crate::search::Search;

/// What to do about an op of a thread that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Take it.
    Go,
    /// The thread is left, and comes back to the same op. If the search has a trial now, that is made first.
    Leave,
    /// The thread does not go on in this run.
    Stop,
}

/// A thread that is about to take an op.
pub struct Stand<'a> {
    /// The thread.
    pub thread: ThreadId,
    /// The op.
    pub op: &'a Op,
    /// Whether the op is not recorded.
    pub fresh: bool,
    /// Whether the thread has just come here.
    pub first: bool,
    /// Where its [registers](unpick_loops::Frame::read) and its live stack are; 0: nobody looks at them.
    pub frame: usize,
}

/// Looks whether the thread is in a loop that only waits.
///
/// # Safety
///
/// The frame must be that of the thread, which stands at its op.
#[inline(always)]
pub unsafe fn watch<F: Frontend>(front: &mut F, stand: &Stand<'_>) -> Watch {
    let &Stand { thread, op, fresh, first, frame } = stand;
    let search = front.search();
    if op.kind != Kind::Read {
        return Watch::Go;
    }
    if frame != 0 && search.loops.places.is_suspect(op.site) {
        // SAFETY: the caller's promise.
        return unsafe { arrive(front, stand) };
    }
    if !search.limits.recognised {
        return cut(search, stand);
    }
    if fresh && first {
        look(front, thread, op);
    }
    if front.search().execution.is_stopped() { Watch::Stop } else { Watch::Go }
}

/// Looks whether a thread goes round; if so, it is watched. The run goes on: what a program has locked or changed
/// outside of what is put back must not be left behind for a suspicion.
#[inline(always)]
pub fn look<F: Frontend>(front: &mut F, thread: ThreadId, op: &Op) {
    let search = front.search();
    if search.limits.recognised
        && may_go_round(search, thread, op)
        && search.loops.suspect(&mut search.execution, thread, op)
    {
        front.goes_round(thread);
    }
}

/// Whether it is to be found out if the thread goes round here. A place that is suspect already is watched from where on
/// that is of use. In executions that are drawn at random one of eight events is looked at, which is every event of a loop
/// now and then, however many there are in a round.
#[inline(always)]
fn may_go_round(search: &Search, thread: ThreadId, op: &Op) -> bool {
    if !search.execution.samples() {
        return !search.loops.places.is_suspect(op.site);
    }
    let position = search.execution.position(thread);
    position >= DRAWN_ROUNDS as u32 && position.wrapping_mul(0x9e37_79b9) < 1 << 29
}

/// A thread comes to a suspect place.
///
/// # Safety
///
/// As for [`watch`].
#[inline(never)]
unsafe fn arrive<F: Frontend>(front: &mut F, stand: &Stand<'_>) -> Watch {
    let &Stand { thread, op, fresh, frame, .. } = stand;
    let Search { execution, loops, limits, .. } = front.search();
    if loops.is_pointless(execution, thread, op.site, limits.rounds) {
        return Watch::Go;
    }
    // SAFETY: the caller's promise.
    if !fresh && unsafe { loops.pass(execution, thread, op, frame) } {
        return Watch::Go;
    }
    // SAFETY: as above.
    let frame = unsafe { loops.frame(thread, op.site, frame, &F::returns) };
    let arrival = Arrival { thread, op, frame, hidden: front.hidden(thread) };
    let search = front.search();
    let Search { execution, loops, .. } = search;
    if !fresh {
        loops.trial = loops.note(execution, &arrival);
        return if loops.trial.is_some() { Watch::Leave } else { Watch::Go };
    }
    match loops.arrive(execution, &arrival) {
        Step::Go { idle } => {
            if !idle && execution.samples() {
                front.has_done_something(thread);
            }
            let search = front.search();
            match search.loops.look_ahead(&search.execution, &arrival, search.limits.rounds) {
                Ahead::Go => Watch::Go,
                Ahead::Cut => cut(search, stand),
                Ahead::Try(trial) => {
                    search.loops.trial = Some(trial);
                    Watch::Leave
                }
            }
        }
        Step::Wait => Watch::Leave,
        Step::Try(trial) => {
            loops.trial = Some(trial);
            Watch::Leave
        }
    }
}

/// Cuts a loop that goes round too often.
fn cut(search: &mut Search, stand: &Stand<'_>) -> Watch {
    if stand.fresh && search.cut(stand.thread, stand.op) { Watch::Stop } else { Watch::Go }
}
