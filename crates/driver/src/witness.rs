//! How to get to a violation again: the part of the graph that it rests on, as a schedule.
//!
//! The graph of a failing execution is gone when the search goes on, so the schedules that lead to the violation are made at
//! once. It is told when the search is over: it is run once more, to see that it fails again, and a second time to keep
//! what the report shows.

use unpick_core::error::Error;
use unpick_core::event::EventId;
use unpick_core::execution::Turn;
use unpick_core::graph::Graph;
use unpick_core::op::{Site, ThreadId};
use unpick_core::schedule::{Schedule, in_order, linearise};
use unpick_core::violation::{Block, Kind, Point, Violation, Wait};

use crate::knowledge::Knowledge;

/// The schedules that lead to a violation.
pub struct Witness {
    /// Of the events that it rests on.
    pub needed: Schedule,
    /// Of all events.
    pub whole: Schedule,
    /// Of all events, in the order in which they took place: for programs whose threads share something that is
    /// not seen, which may depend on it.
    pub as_found: Schedule,
}

impl Witness {
    /// The schedules that lead to a violation of this graph, which shows if threads are late until a turn, if one is given. `model`:
    /// the memory model, as a number in schedules.
    pub fn new(
        graph: &Graph,
        model: u8,
        knowledge: &Knowledge,
        violation: &Violation,
        turn: Option<&Turn>,
    ) -> Witness {
        let facts = knowledge.facts().bits();
        if graph.is_compacted() {
            let whole = Schedule::of_compacted(graph, model).with_facts(facts);
            return Witness { needed: whole.clone(), as_found: whole.clone(), whole };
        }
        let schedule = |order: &[EventId]| Schedule::new(graph, order, model).with_facts(facts);
        let linear = |lens: &[u32]| match turn {
            Some(turn) => Schedule::of_turn(graph, turn, lens, model).with_facts(facts),
            None => schedule(&linearise(graph, lens)),
        };
        let all: Vec<u32> = graph.thread_lens().collect();
        if turn.is_some() {
            let (needed, whole) = (linear(&graph.closure(&foundation(graph, violation))), linear(&all));
            return Witness { needed, as_found: whole.clone(), whole };
        }
        Witness {
            needed: linear(&graph.closure(&foundation(graph, violation))),
            whole: linear(&all),
            as_found: schedule(&in_order(graph)),
        }
    }

    /// Tells of the first schedule that leads there again, the one that reads best first. `tell` is also told whether a panic
    /// must be the same one: threads that are not needed may have panicked too, and a part of the execution may end before the
    /// program has looked at those.
    ///
    /// # Errors
    ///
    /// That of the last one, if none does; another than [`Error::Token`] at once.
    pub fn tell<T>(&self, mut tell: impl FnMut(&Schedule, bool) -> Result<T, Error>) -> Result<T, Error> {
        for (schedule, exact) in [(&self.needed, true), (&self.whole, false)] {
            match tell(schedule, exact) {
                Err(Error::Token { .. }) => {}
                told => return told,
            }
        }
        tell(&self.as_found, false)
    }
}

/// A violation that was found.
pub struct Found {
    /// What is wrong.
    pub violation: Violation,
    /// How to get there.
    pub witness: Witness,
    /// Number of the execution, from 1.
    pub number: u64,
}

impl Found {
    /// Whether another violation is the same to a reader.
    pub fn is_like(&self, other: &Violation) -> bool {
        signature(&self.violation) == signature(other)
    }
}

/// The events that must have taken place for the violation to show.
fn foundation(graph: &Graph, violation: &Violation) -> Vec<EventId> {
    let mut events = Vec::new();
    let mut before = |thread: ThreadId, count: u32| {
        if count > 0 {
            events.push(EventId { thread, index: count - 1 });
        } else {
            events.extend(graph.spawn_of(thread));
        }
    };
    match &violation.kind {
        Kind::Race { accesses, .. } => {
            for access in accesses {
                let point = access.point;
                let is_event = graph
                    .thread(point.thread)
                    .get(point.index as usize)
                    .is_some_and(|event| event.site == point.site && (event.is_read() || event.is_write()));
                before(point.thread, point.index + u32::from(is_event));
            }
        }
        Kind::Unpublished { access, .. } => {
            before(access.point.thread, access.point.index + u32::from(access.atomic));
        }
        Kind::UseAfterFree { access, freed, .. } => {
            before(access.point.thread, access.point.index);
            before(freed.thread, freed.index);
        }
        Kind::DoubleFree { first, .. } => {
            before(first.thread, first.index);
            before(violation.point.thread, violation.point.index);
        }
        Kind::Panic { .. }
        | Kind::Assertion { .. }
        | Kind::BadUnlock { .. }
        | Kind::Exit { .. }
        | Kind::Abort
        | Kind::Uninitialised { .. }
        | Kind::InvalidFree { .. }
        | Kind::OutOfBounds { .. }
        | Kind::Crash { .. } => before(violation.point.thread, violation.point.index),
        Kind::Deadlock { .. } | Kind::Livelock { .. } | Kind::Leak { .. } => {
            for t in 0..graph.thread_count() {
                let thread = ThreadId(t as u32);
                if graph.exists(thread) {
                    before(thread, graph.thread_len(thread) as u32);
                }
            }
        }
    }
    events
}

/// What is wanted of a run that is told about.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The points whose call stacks are wanted.
    pub points: Vec<Point>,
    /// The block whose allocation and freeing are wanted.
    pub block: Option<Block>,
    /// Where the violation shows.
    pub at: Option<Point>,
}

impl Wanted {
    /// What is wanted to tell a violation.
    fn of(violation: &Violation) -> Wanted {
        Wanted { points: points(violation), block: violation.kind.block(), at: Some(violation.point) }
    }
}

/// Goes to a violation twice: to see that it is there, and to keep what is wanted. `follow` runs the execution, and says what it
/// has kept and which violation has shown. `exact`: another panic will not do. `None`: it does not show.
///
/// # Errors
///
/// Those of `follow`.
pub fn retrace<T>(
    violation: &Violation,
    exact: bool,
    mut follow: impl FnMut(Wanted) -> Result<(T, Option<Violation>), Error>,
) -> Result<Option<(T, Violation)>, Error> {
    let (_, again) = follow(Wanted::default())?;
    let shows = |again: &Violation| match (&again.kind, &violation.kind) {
        (Kind::Panic { place: again, .. }, Kind::Panic { place, .. }) => !exact || again == place,
        _ => again.title() == violation.title(),
    };
    let Some(again) = again.filter(shows) else { return Ok(None) };
    let (shown, told) = follow(Wanted::of(&again))?;
    Ok(told.map(|told| (shown, told)))
}

/// The points whose call stacks are wanted.
fn points(violation: &Violation) -> Vec<Point> {
    match &violation.kind {
        Kind::Race { accesses, .. } => accesses.iter().map(|access| access.point).collect(),
        Kind::Unpublished { access, .. }
        | Kind::UseAfterFree { access, .. }
        | Kind::OutOfBounds { access, .. } => vec![access.point],
        Kind::Deadlock { waiters } | Kind::Livelock { waiters } => {
            waiters.iter().filter(|w| !matches!(w.wait, Wait::Join(_))).map(|w| w.point).collect()
        }
        Kind::BadUnlock { .. } | Kind::Exit { .. } | Kind::Abort => vec![violation.point],
        Kind::Panic { .. }
        | Kind::Assertion { .. }
        | Kind::Uninitialised { .. }
        | Kind::DoubleFree { .. }
        | Kind::InvalidFree { .. }
        | Kind::Leak { .. }
        | Kind::Crash { .. } => Vec::new(),
    }
}

/// What two violations have in common that are the same to a reader: their kind and their places.
pub fn signature(violation: &Violation) -> (&'static str, Vec<Site>, &str) {
    let (mut sites, text) = match &violation.kind {
        Kind::Panic { place, message } if place.is_empty() => (Vec::new(), message.as_str()),
        Kind::Panic { place, .. } | Kind::Assertion { place, .. } => (Vec::new(), place.as_str()),
        Kind::Race { accesses, .. } => (accesses.iter().map(|access| access.point.site).collect(), ""),
        Kind::Deadlock { waiters } | Kind::Livelock { waiters } => {
            (waiters.iter().map(|waiter| waiter.point.site).collect(), "")
        }
        Kind::Unpublished { .. }
        | Kind::BadUnlock { .. }
        | Kind::Exit { .. }
        | Kind::Abort
        | Kind::UseAfterFree { .. }
        | Kind::Uninitialised { .. }
        | Kind::OutOfBounds { .. }
        | Kind::DoubleFree { .. }
        | Kind::InvalidFree { .. }
        | Kind::Leak { .. }
        | Kind::Crash { .. } => (vec![violation.point.site], ""),
    };
    sites.sort_unstable();
    sites.dedup();
    (violation.title(), sites, text)
}

#[cfg(test)]
mod tests {
    use unpick_core::op::ThreadId;
    use unpick_core::violation::{Access, Point};

    use super::*;

    #[test]
    fn races_are_the_same_whoever_comes_first() {
        let access = |thread: u32, site: u64| Access {
            point: Point { thread: ThreadId(thread), index: thread, site: Site(site) },
            writes: true,
            atomic: false,
        };
        let race = |a: Access, b: Access| Violation {
            kind: Kind::Race { accesses: [a, b], object: String::from("UnsafeCell") },
            point: b.point,
        };
        let (one, other) = (race(access(1, 5), access(2, 6)), race(access(4, 6), access(3, 5)));
        assert_eq!(signature(&one), signature(&other));
        assert_ne!(signature(&one), signature(&race(access(1, 5), access(2, 7))));
    }
}
