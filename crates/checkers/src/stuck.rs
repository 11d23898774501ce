//! Deadlock and livelock: executions in which some threads can never go on.
//!
//! It is a violation only if every waiter is stuck even on the newest values. A thread that
//! spins on a value which has been overwritten moves on in another execution, and one that stands
//! at a false assumption asked for this execution to be ignored.

use unpick_core::event::{Event, EventId};
use unpick_core::execution::Outcome;
use unpick_core::graph::Graph;
use unpick_core::op::{Rmw, ThreadId};
use unpick_core::violation::{Kind, Violation, Wait, Waiter};

/// The violation that a blocked execution shows, if it is one.
pub fn judge(graph: &Graph, waiters: &[Waiter]) -> Option<Violation> {
    let hopeless = waiters.iter().all(|waiter| match waiter.wait {
        Wait::Lock { .. } | Wait::Signal { timed: false, .. } | Wait::Join(_) | Wait::Exit => true,
        Wait::Signal { timed: true, .. } | Wait::Assume | Wait::Bound => false,
        Wait::Spin { from } => spins_on_newest(graph, waiter, from, waiters),
    });
    let for_lock =
        waiters.iter().find(|waiter| matches!(waiter.wait, Wait::Lock { .. } | Wait::Signal { .. }));
    let point = for_lock.or(waiters.first())?.point;
    if !hopeless {
        return None;
    }
    let spinning = waiters.iter().find(|waiter| matches!(waiter.wait, Wait::Spin { .. }));
    Some(match spinning {
        Some(spinning) => {
            Violation { kind: Kind::Livelock { waiters: waiters.to_vec() }, point: spinning.point }
        }
        None => Violation { kind: Kind::Deadlock { waiters: waiters.to_vec() }, point },
    })
}

/// An outcome, and the violation that it shows if threads are stuck. `ended`: the process ends all the same, and
/// takes those who are stuck with it.
pub fn settle(
    graph: &Graph,
    outcome: Outcome,
    ended: impl FnOnce(&[Waiter]) -> bool,
) -> (Outcome, Option<Violation>) {
    let Outcome::Blocked(waiters) = &outcome else { return (outcome, None) };
    match judge(graph, waiters) {
        Some(_) if ended(waiters) => (Outcome::Complete, None),
        stuck => (outcome, stuck),
    }
}

/// Whether every read of the iteration saw the newest value, or one equal to it, or what the iteration
/// itself has written. A choice that is no guess, or an exchange that failed without a reason, goes
/// another way sooner or later. A lock is as it was when somebody else has given it back, but what it protects may not
/// be.
fn spins_on_newest(graph: &Graph, waiter: &Waiter, from: u32, waiters: &[Waiter]) -> bool {
    let thread = waiter.point.thread;
    let from = from.max(graph.base(thread) as u32);
    let iteration = graph.since(thread, from);
    if iteration.iter().any(Event::is_free) {
        return false;
    }
    let events = iteration.iter().zip(from as usize..);
    events.filter(|(event, _)| event.is_read()).all(|(event, index)| {
        if event.rmw == Rmw::Lock && is_taken_since(graph, thread, event, waiters) {
            return false;
        }
        if event.rf.thread == thread && event.rf.index >= from && !event.rf.is_init() {
            return true;
        }
        let seen = graph.read_value(EventId::new(thread, index));
        graph.value(event.addr, graph.newest(event.addr)) == seen
    })
}

/// Whether another thread has taken a lock since, and not only in a round of a loop that changes nothing.
fn is_taken_since(graph: &Graph, thread: ThreadId, lock: &Event, waiters: &[Waiter]) -> bool {
    let idle = |write: EventId| {
        waiters.iter().any(|waiter| match waiter.wait {
            Wait::Spin { from } => waiter.point.thread == write.thread && write.index >= from,
            _ => false,
        })
    };
    let since = graph.writes(lock.addr).iter().rev().take_while(|&&write| write != lock.rf);
    since.copied().any(|write| write.thread != thread && !idle(write))
}
