//! Deadlock and livelock: executions in which some threads can never go on.
//!
//! It is a violation only if every waiter is stuck even on the newest values. A thread that
//! spins on a value which has been overwritten moves on in another execution, and one that stands
//! at a false assumption asked for this execution to be ignored.

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
        Wait::Signal { timed: false, .. } | Wait::Writer { .. } | Wait::Join(_) | Wait::Exit => true,
        Wait::Signal { timed: true, .. } | Wait::Assume | Wait::Bound => false,
        Wait::Spin { .. } => {
            waiting_in(waiter).is_some_and(|one| round::repeats_for_ever(graph, one, &waiting, patient))
        }
    });
    let is_for_lock =
        |wait: &Wait| matches!(wait, Wait::Lock { .. } | Wait::Writer { .. } | Wait::Signal { .. });
    let for_lock = waiters.iter().find(|waiter| is_for_lock(&waiter.wait));
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

#[cfg(test)]
mod tests {
    use unpick_core::event::EventId;
    use unpick_core::graph::Synchronisation;
    use unpick_core::op::Mode::Relaxed;
    use unpick_core::op::{Op, Site};
    use unpick_core::violation::Point;

    use super::*;

    const A: Addr = Addr(0);
    const B: Addr = Addr(1);

    /// A graph with two threads besides the main one.
    fn two_threads() -> Graph {
        let mut graph = Graph::new(Synchronisation::AsWritten);
        graph.add_location(0);
        graph.add_location(0);
        for child in [1, 2] {
            graph.add_spawn(ThreadId::MAIN, ThreadId(child), Site(0));
        }
        graph
    }

    /// Adds an op that sees, or follows, the newest write.
    fn take(graph: &mut Graph, thread: u32, op: &Op) -> EventId {
        let newest = graph.newest(op.addr);
        let event = graph.add(ThreadId(thread), op);
        if op.kind == unpick_core::op::Kind::Read {
            graph.read_from(event, newest, false);
        } else {
            graph.insert_write(op.addr, graph.writes(op.addr).len(), event);
        }
        event
    }

    fn lock(graph: &mut Graph, thread: u32, addr: Addr) -> EventId {
        take(graph, thread, &Op::lock(addr, Site(0)))
    }

    /// The thread waits after the events that it has.
    fn waiter(graph: &Graph, thread: u32, wait: Wait) -> Waiter {
        let thread = ThreadId(thread);
        let index = graph.thread_len(thread) as u32;
        Waiter { point: Point { thread, index, site: Site(u64::from(thread.0)) }, wait }
    }

    /// What is said of these waits, each of the thread with that number.
    fn judged(graph: &Graph, waits: &[(u32, Wait)]) -> Option<Violation> {
        let waiters: Vec<Waiter> = waits.iter().map(|&(thread, wait)| waiter(graph, thread, wait)).collect();
        judge(graph, &waiters, true, &[])
    }

    fn is_deadlock(violation: &Option<Violation>) -> bool {
        matches!(violation, Some(Violation { kind: Kind::Deadlock { .. }, .. }))
    }

    fn is_livelock(violation: &Option<Violation>) -> bool {
        matches!(violation, Some(Violation { kind: Kind::Livelock { .. }, .. }))
    }

    /// Each thread holds a lock and waits for the other's.
    fn crossed() -> (Graph, [(u32, Wait); 2]) {
        let mut graph = two_threads();
        let first = lock(&mut graph, 1, A);
        let second = lock(&mut graph, 2, B);
        let waits =
            [(1, Wait::Lock { addr: B, held_by: second }), (2, Wait::Lock { addr: A, held_by: first })];
        (graph, waits)
    }

    #[test]
    fn threads_that_wait_for_each_others_locks_are_in_a_deadlock() {
        let (graph, waits) = crossed();
        let found = judged(&graph, &waits);
        assert!(is_deadlock(&found), "{found:?}");
        assert_eq!(found.map(|found| found.point), Some(waiter(&graph, 1, waits[0].1).point));
    }

    #[test]
    fn a_deadlock_shows_where_a_lock_is_waited_for() {
        let (mut graph, waits) = crossed();
        graph.add_finish(ThreadId(1));
        let found = judged(&graph, &[(0, Wait::Join(ThreadId(2))), waits[1]]).expect("a deadlock");
        assert_eq!(found.point.thread, ThreadId(2));
        let Kind::Deadlock { waiters } = found.kind else { panic!("{:?}", found.kind) };
        assert_eq!(waiters.len(), 2);
    }

    #[test]
    fn waiting_for_what_never_comes_is_a_deadlock() {
        let graph = two_threads();
        let signal = |timed| Wait::Signal { addr: A, timed };
        for wait in [signal(false), Wait::Join(ThreadId(2)), Wait::Exit] {
            assert!(is_deadlock(&judged(&graph, &[(1, wait)])), "{wait:?}");
        }
        assert_eq!(judged(&graph, &[(1, signal(true))]), None, "it goes on when its time is over");
    }

    #[test]
    fn an_execution_that_was_not_to_be_followed_is_no_deadlock() {
        let (graph, waits) = crossed();
        for wait in [Wait::Assume, Wait::Bound] {
            assert_eq!(judged(&graph, &[waits[0], waits[1], (0, wait)]), None, "{wait:?}");
        }
    }

    #[test]
    fn nobody_waits_where_nobody_is_blocked() {
        assert_eq!(judge(&two_threads(), &[], true, &[]), None);
    }

    /// Thread 1 has read once in its loop, thread 2 writes before or after that.
    fn spinning(write_first: bool) -> (Graph, Wait) {
        let mut graph = two_threads();
        let store = Op::store(A, Relaxed, 1, Site(0));
        if write_first {
            take(&mut graph, 2, &store);
        }
        take(&mut graph, 1, &Op::load(A, Relaxed, Site(0)));
        if !write_first {
            take(&mut graph, 2, &store);
        }
        (graph, Wait::Spin { from: 0, since: 0 })
    }

    #[test]
    fn a_loop_on_the_newest_value_is_a_livelock() {
        let (graph, spin) = spinning(true);
        assert!(is_livelock(&judged(&graph, &[(1, spin)])));
    }

    #[test]
    fn a_loop_on_an_older_value_goes_on() {
        let (graph, spin) = spinning(false);
        assert_eq!(judged(&graph, &[(1, spin)]), None);
    }

    #[test]
    fn with_a_thread_that_spins_a_deadlock_is_a_livelock() {
        let (mut graph, spin) = spinning(true);
        let held_by = lock(&mut graph, 2, B);
        let found = judged(&graph, &[(0, Wait::Lock { addr: B, held_by }), (1, spin)]);
        assert!(is_livelock(&found));
        assert_eq!(found.map(|found| found.point.thread), Some(ThreadId(1)), "where it spins");
    }

    /// Thread 1 takes a lock and gives it back in each round of a loop on a value that never comes; the main thread waits
    /// for that lock.
    #[test]
    fn a_lock_that_a_loop_gives_back_is_no_deadlock() {
        let mut graph = two_threads();
        let held_by = lock(&mut graph, 1, B);
        take(&mut graph, 1, &Op::load(A, Relaxed, Site(0)));
        take(&mut graph, 1, &Op::unlock(B, Site(0)));
        let spin = (1, Wait::Spin { from: 0, since: 0 });
        assert!(is_livelock(&judged(&graph, &[spin])), "by itself it goes round for ever");
        assert_eq!(judged(&graph, &[(0, Wait::Lock { addr: B, held_by }), spin]), None);
    }

    /// Thread 1 has taken a lock only to get others with it, and will give it back.
    #[test]
    fn who_gathers_locks_gives_back_what_it_has() {
        let (graph, waits) = crossed();
        let waiters = waits.map(|(thread, wait)| waiter(&graph, thread, wait));
        let gathering = |thread: u32, since| Gathering { thread: ThreadId(thread), since, locks: vec![A, B] };
        assert_eq!(judge(&graph, &waiters, true, &[gathering(1, 0)]), None);
        let found = judge(&graph, &waiters, true, &[gathering(1, 1)]);
        assert!(is_deadlock(&found), "it had the lock before it began to gather: {found:?}");
    }

    /// Threads 1 and 2 gather both locks. The main thread holds one for good, so it helps thread 1 in nothing that thread 2
    /// gives back the other.
    #[test]
    fn who_gathers_locks_waits_until_all_are_free() {
        let mut graph = two_threads();
        let held_by = [lock(&mut graph, 0, A), lock(&mut graph, 2, B)];
        let gathering = [1, 2].map(|t| Gathering { thread: ThreadId(t), since: 0, locks: vec![A, B] });
        let waiters = [(1, B, held_by[1]), (2, A, held_by[0])]
            .map(|(thread, addr, held_by)| waiter(&graph, thread, Wait::Lock { addr, held_by }));
        assert!(is_deadlock(&judge(&graph, &waiters, true, &gathering)));
    }

    #[test]
    fn who_gathers_a_lock_that_it_has_waits_for_ever() {
        let mut graph = two_threads();
        let held_by = lock(&mut graph, 1, A);
        let gathering = [Gathering { thread: ThreadId(1), since: 0, locks: vec![A] }];
        let waiters = [waiter(&graph, 1, Wait::Lock { addr: A, held_by })];
        assert!(is_deadlock(&judge(&graph, &waiters, true, &gathering)));
    }
}
