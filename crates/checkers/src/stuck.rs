//! Deadlock and livelock: executions in which some threads can never go on.
//!
//! It is a violation only if every waiter is stuck even on the newest values. A thread that
//! spins on a value which has been overwritten moves on in another execution, and one that stands
//! at a false assumption asked for this execution to be ignored.

use unpick_core::execution::Outcome;
use unpick_core::graph::Graph;
use unpick_core::round::{self, Waiting};
use unpick_core::violation::{Kind, Violation, Wait, Waiter};

/// The violation that a blocked execution shows, if it is one. `patient`: a thread that others let go on now and then, in
/// their own loops, is not stuck. Where no execution comes to its end, it is.
pub fn judge(graph: &Graph, waiters: &[Waiter], patient: bool) -> Option<Violation> {
    let waiting: Vec<Waiting> = waiters.iter().filter_map(waiting_in).collect();
    let hopeless = waiters.iter().all(|waiter| match waiter.wait {
        // Whoever waits for a lock that others take and give back in their rounds gets it some time.
        Wait::Lock { addr, .. } => !waiting.iter().any(|one| one.writes_to(graph, addr)),
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

/// An outcome, and the violation that it shows if threads are stuck. `ended`: the process ends all the same, and
/// takes those who are stuck with it.
pub fn settle(
    graph: &Graph,
    outcome: Outcome,
    patient: bool,
    ended: impl FnOnce(&[Waiter]) -> bool,
) -> (Outcome, Option<Violation>) {
    let Outcome::Blocked(waiters) = &outcome else { return (outcome, None) };
    match judge(graph, waiters, patient) {
        Some(_) if ended(waiters) => (Outcome::Complete, None),
        stuck => (outcome, stuck),
    }
}
