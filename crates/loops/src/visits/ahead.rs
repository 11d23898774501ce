//! Loops that would be cut: whether they end by themselves.

use unpick_core::execution::Execution;
use unpick_core::op::{Op, Site, ThreadId};
use unpick_core::violation::{Point, Wait, Waiter};

use super::{Arrival, Loops};
use crate::places;
use crate::rounds::Trial;

/// Rounds of a loop that are looked ahead before it is cut.
pub(super) const AHEAD: u32 = 1000;

/// What is ahead of a loop that may have to be cut.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "each is looked at where it is made, and not kept")]
pub enum Ahead {
    /// It need not be cut yet.
    Go,
    /// It is not known to end.
    Cut,
    /// It is to be tried whether it ends by itself.
    Try(Trial),
}

/// What was seen ahead of a loop that was about to be cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) thread: ThreadId,
    pub(super) site: Site,
    /// Up to which event the loop goes on, and then ends by itself; if that was not seen, where the thread was.
    pub(super) until: u32,
}

impl Loops {
    /// Since which event the thread has come to this place so often, and has left nothing behind each time, if it has:
    /// then the loop is to be cut.
    fn tires(&self, execution: &Execution, thread: ThreadId, op: &Op, most: usize) -> Option<u32> {
        if execution.samples() || execution.graph().thread_len(thread) < most || execution.goes_on(thread) {
            return None;
        }
        places::goes_round_often(execution.graph(), thread, op, most)
    }

    /// Looks ahead of a loop that would be cut: one that only counts may end by itself.
    pub fn look_ahead(&self, execution: &Execution, arrival: &Arrival<'_>, most: usize) -> Ahead {
        let Arrival { thread, op, .. } = *arrival;
        let Some(since) = self.tires(execution, thread, op, most) else { return Ahead::Go };
        let here = execution.position(thread);
        let last = self.seen.iter().rev().find(|seen| (seen.thread, seen.site) == (thread, op.site));
        // Where what was seen has not come true, it is not believed again.
        if let Some(seen) = last.filter(|seen| seen.until > since) {
            return if here < seen.until { Ahead::Go } else { Ahead::Cut };
        }
        let mut events = execution.graph().since(thread, since).iter();
        match events.rposition(|event| places::is_like(event, op)) {
            Some(last) if unpick_emulator::is_supported() => {
                Ahead::Try(Trial::new(arrival, since + last as u32, here).ahead(AHEAD))
            }
            _ => Ahead::Cut,
        }
    }

    /// Cuts a loop that has come to this place so often, and has left nothing behind each time: the thread is blocked
    /// before `op`. Whether it was.
    pub fn cut(&self, execution: &mut Execution, thread: ThreadId, op: &Op, most: usize) -> bool {
        let cuts = self.tires(execution, thread, op, most).is_some();
        if cuts {
            let point = Point { thread, index: execution.position(thread), site: op.site };
            execution.block(thread, Waiter { point, wait: Wait::Bound });
        }
        cuts
    }
}
