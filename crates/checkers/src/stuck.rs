//! Deadlock and livelock: executions in which some threads can never go on.
//!
//! It is a violation only if every waiter is stuck even on the newest values. A thread that
//! spins on a value which has been overwritten moves on in another execution, and one that stands
//! at a false assumption asked for this execution to be ignored.

use unpick_core::execution::Outcome;
use unpick_core::graph::Graph;
use unpick_core::op::{Addr, TAKEN, ThreadId};
use unpick_core::round::{self, Waiting};
use unpick_core::violation::{Kind, Violation, Wait, Waiter};

/// A thread that takes several locks as one, and waits until all are free: it holds none of them before it has all.
#[derive(Clone, Debug)]
pub struct Gathering {
    /// The thread.
    pub thread: ThreadId,
    /// From which of its events on it has taken locks only for that.
    pub since: u32,
    /// The locks that have been used.
    pub locks: Vec<Addr>,
}

/// Whether a lock is free for `thread`, if those who gather locks give back what they have.
fn is_free(graph: &Graph, addr: Addr, thread: ThreadId, gathering: &[Gathering]) -> bool {
    let newest = graph.newest(addr);
    let held = gathering.iter().any(|one| one.thread == newest.thread && one.since <= newest.index);
    graph.value(addr, newest) != TAKEN || (held && newest.thread != thread)
}

/// Whether a thread that waits for a lock gets it, if those who gather locks give back what they have.
fn may_take(graph: &Graph, addr: Addr, thread: ThreadId, gathering: &[Gathering]) -> bool {
    let own = gathering.iter().find(|one| one.thread == thread);
    let is_mine = |lock: Addr| graph.newest(lock).thread == thread;
    let others = own.iter().flat_map(|own| &own.locks).filter(|lock| !is_mine(**lock));
    is_free(graph, addr, thread, gathering)
        && others.into_iter().all(|&lock| is_free(graph, lock, thread, gathering))
}

/// The violation that a blocked execution shows, if it is one. `patient`: a thread that others let go on now and then, in
/// their own loops, is not stuck. Where no execution comes to its end, it is.
pub fn judge(graph: &Graph, waiters: &[Waiter], patient: bool, gathering: &[Gathering]) -> Option<Violation> {
    let waiting: Vec<Waiting> = waiters.iter().filter_map(waiting_in).collect();
    let hopeless = waiters.iter().all(|waiter| match waiter.wait {
        // Whoever waits for a lock that others take and give back in their rounds gets it some time.
        Wait::Lock { addr, .. } => {
            !waiting.iter().any(|one| one.writes_to(graph, addr))
                && (gathering.is_empty() || !may_take(graph, addr, waiter.point.thread, gathering))
        }
        Wait::Signal { timed: false, .. } | Wait::Join(_) | Wait::Exit => true,
        Wait::Signal { timed: true, .. } | Wait::Assume | Wait::Bound => false,
        Wait::Spin { .. } => {
            waiting_in(waiter).is_some_and(|one| round::repeats_for_ever(graph, one, &waiting, patient))
        }
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

/// The round that the thread repeats, if it waits in a loop.
fn waiting_in(waiter: &Waiter) -> Option<Waiting> {
    match waiter.wait {
        Wait::Spin { from, since } => Some(Waiting { thread: waiter.point.thread, from, since }),
        _ => None,
    }
}

/// An outcome, and the violation that it shows if threads are stuck. `gathering`: threads that take several locks as one.
/// `ended`: the process ends all the same, and takes those who are stuck with it.
pub fn settle(
    graph: &Graph,
    outcome: Outcome,
    patient: bool,
    gathering: &[Gathering],
    ended: impl FnOnce(&[Waiter]) -> bool,
) -> (Outcome, Option<Violation>) {
    let Outcome::Blocked(waiters) = &outcome else { return (outcome, None) };
    match judge(graph, waiters, patient, gathering) {
        Some(_) if ended(waiters) => (Outcome::Complete, None),
        stuck => (outcome, stuck),
    }
}
