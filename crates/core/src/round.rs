//! Rounds of loops that wait: what the graph must look like for a round to be as good as none.
//!
//! A round is what a thread does from one arrival at a place to the next. If the thread is after it exactly as it
//! was before, and so is all memory that it alone can have changed (front-ends see to that), then whatever the
//! thread can do after the round it could do before. So the thread may stop at the second arrival, provided that the
//! execution without the round is an execution too, with the same violations. This file decides the latter.
//!
//! - **Reads, failed exchanges, fences and choices** may go. Without them there are fewer edges, so the
//!   smaller graph is consistent under every model; fewer edges order less, so a race outside the round stays one.
//! - **Writes** may go if nobody can tell. In the order of the writes to a location, those of the round that stand next
//!   to each other follow some write `p`, and leave the value that `p` left. Nobody else has read any of them but
//!   the last. Whoever has read the last reads `p` instead. It still finds the same value, but it may now
//!   synchronise with `p`: it must learn nothing that it did not learn from the last. And `p` must be before the last in
//!   `po ∪ rf`, since otherwise `p` may depend on the reader, and no execution has a cycle of dependencies. Then the
//!   smaller graph has no edge between two events that were not ordered in the same way before. This is asked
//!   even if nobody has read the last yet, since the thread itself may do so later: it is not stopped in the execution in
//!   which it does.
//! - **Threads that start, end or are joined, and signals**, never go: others act on them.
//!
//! The rule is judged on the graph as it is. If another thread later reads a write of the round other than the last, or
//! writes in between, the rule fails, and a thread that was stopped goes on.
//!
//! Why readers of the last write must learn no more, by an example: T0 `d = 1; a.store(1, Release)`; T1
//! `while b.load(Acquire) == 0 { if a.load(Relaxed) == 1 { a.store(1, Relaxed) } }`; T2 `if a.load(Acquire) == 1
//! { if d == 0 { c = 2 }; b.store(1, Release) }`. T2 finds `d == 0` only if it reads the store of T1, which
//! synchronises with nobody. Reading that of T0 instead, it would know of `d = 1`.

use std::ops::Range;

use crate::clock::knows;
use crate::event::{Event, EventId};
use crate::graph::Graph;
use crate::mutant::{self, Mutant};
use crate::op::{Addr, Kind, Mode, Rmw, Site, ThreadId};

/// Whether the graph without these events of a thread is as good as the graph with them.
#[inline]
pub fn leaves_nothing(graph: &Graph, thread: ThreadId, round: Range<u32>) -> bool {
    match writes(graph, thread, &round) {
        Some(true) => leaves_no_write(graph, thread, round),
        Some(false) => true,
        None => false,
    }
}

/// Whether the events write, if they can be part of a round that leaves nothing behind.
#[inline]
fn writes(graph: &Graph, thread: ThreadId, round: &Range<u32>) -> Option<bool> {
    let mut writes = false;
    for event in events(graph, thread, round) {
        if !may_be_dropped(event) {
            return None;
        }
        writes |= event.is_write();
    }
    Some(writes)
}

/// How many rounds that write, and that nobody has noticed, a thread may have behind it and still go on, to begin with.
///
/// If others may notice rounds, a thread must not stop at the first that nobody has noticed: graphs would be lost in which
/// somebody notices it after, or because of, something that the thread does later. The search adds what the thread does
/// later first, and points reads at it afterwards. An example under sequential consistency: T0 reads `y`; T1 `x = 1`; T2
/// `while x == 0 { lock; unlock } y = 1`; T3 tries to lock. That T0 reads 1 and T3 fails is found from the graph in
/// which T2 has `y = 1` after a round, and T3 has not been there yet.
///
/// A graph in which `n` rounds of a thread are noticed is found if so many may be unnoticed on the way. So the search looks
/// at each graph for what [may be noticed](Undone::noticeable) in it, and starts over with
/// [that number](crate::execution::Execution::set_spare_rounds) when it grows.
pub const SPARE: usize = 0;

/// More than so many are not tried: threads that notice each other's rounds may do so for ever.
pub const MOST_SPARE: usize = 3;

/// A place where a thread has made rounds that write and leave nothing behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The thread.
    pub thread: ThreadId,
    /// Where the rounds begin and end.
    pub site: Site,
    /// Whether they only take locks and give them back.
    pub locks: bool,
}

impl Undone {
    /// What is known from these rounds, which end where the thread is about to have an event at a place.
    pub fn new(graph: &Graph, thread: ThreadId, site: Site, rounds: &[Range<u32>]) -> Undone {
        let mut all = rounds.iter().flat_map(|round| events(graph, thread, round));
        let takes_or_gives = |event: &Event| matches!(event.rmw, Rmw::Lock | Rmw::TryLock);
        Undone { thread, site, locks: all.all(|event| !event.is_write() || takes_or_gives(event)) }
    }

    /// How many rounds of the thread others may notice, in graphs like this one.
    ///
    /// Each round that is noticed takes an event of its own, of another thread: a read of one of its writes, or a write
    /// before or among them. There is at most one more than the graph has already: say that another graph has more. Follow
    /// how that one comes about, up to the first event that makes it so, and leave out that event and the round. What is
    /// left is a graph with as many as this one, which is found. The event is one of those that come next in
    /// it, so it is there in a graph that is found, in addition to those that have noticed a round.
    pub fn noticeable(&self, graph: &Graph) -> usize {
        let Undone { thread, site, locks } = *self;
        let base = graph.base(thread) as u32;
        let at_site = graph.thread(thread).iter().zip(base..).filter(|(event, _)| event.site == site);
        let arrivals: Vec<u32> = at_site.map(|(_, index)| index).collect();
        let rounds = arrivals.windows(2).map(|ends| ends[0]..ends[1]);
        let matters = |round: &Range<u32>| {
            writes(graph, thread, round) == Some(true) && !leaves_no_write(graph, thread, round.clone())
        };
        let noticed = rounds.filter(matters).count();
        // Locations are numbered in each run, so it is not known which ones the next round would write to.
        let is_lock = |addr: Addr| graph.writes(addr).iter().any(|id| is_of_lock(graph.event(*id)));
        let notices = |event: &&Event| {
            let accesses = event.is_read() || event.is_write();
            accesses && !is_of_lock(event) && (!locks || is_lock(event.addr))
        };
        let others = (0..graph.thread_count()).map(|other| ThreadId(other as u32));
        let events = others.filter(|other| *other != thread).flat_map(|other| graph.thread(other));
        events.filter(notices).take(noticed + 1).count()
    }
}

/// Whether the event takes a lock, after it has waited for it, or gives one back. It cannot notice a round: it finds
/// the lock free, and nobody else writes until it is free again.
fn is_of_lock(event: &Event) -> bool {
    event.rmw == Rmw::Lock
}

/// What the last rounds of a thread are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Idle {
    /// They matter.
    No,
    /// The last one leaves nothing behind, and has only read.
    Reads,
    /// The last one leaves nothing behind, and has written; how many such there are.
    Writes(usize),
}

/// The rounds that leave nothing behind, back from here, into `rounds`; `earlier`: where the thread was in the same state,
/// the latest first.
pub fn idle(
    graph: &Graph,
    thread: ThreadId,
    here: u32,
    earlier: &[u32],
    rounds: &mut Vec<Range<u32>>,
) -> Idle {
    rounds.clear();
    let mut end = here;
    for &from in earlier {
        // One that matters ends where the next longer one does, or where the thread was before.
        if leaves_nothing(graph, thread, from..end) {
            rounds.push(from..end);
            end = from;
        } else if writes(graph, thread, &(from..end)) == Some(true) {
            end = from;
        }
    }
    let writes = |round: &&Range<u32>| events(graph, thread, round).iter().any(Event::is_write);
    match rounds.first() {
        None => Idle::No,
        Some(last) if writes(&last) => Idle::Writes(rounds.iter().filter(writes).count()),
        Some(_) => Idle::Reads,
    }
}

/// Whether a round writes to the location.
pub fn writes_to(graph: &Graph, thread: ThreadId, round: &Range<u32>, addr: Addr) -> bool {
    events(graph, thread, round).iter().any(|event| event.is_write() && event.addr == addr)
}

/// Whether the event can be part of a round that leaves nothing behind: it only reads, or writes in a way that a later
/// one of the same thread can undo.
#[inline(always)]
pub fn may_be_dropped(event: &Event) -> bool {
    let signals = || matches!(event.rmw, Rmw::Post | Rmw::Await | Rmw::TakeBit | Rmw::TakeAll);
    match event.kind {
        Kind::Fence | Kind::Choice => true,
        Kind::Read | Kind::Write => !event.is_write() || (event.mode != Mode::Plain && !signals()),
        Kind::Spawn | Kind::Join | Kind::Finish => false,
    }
}

/// The events of a round, as far as the graph still has them.
fn events<'a>(graph: &'a Graph, thread: ThreadId, round: &Range<u32>) -> &'a [Event] {
    let events = graph.since(thread, round.start);
    let len = round.end.saturating_sub(round.start.max(graph.base(thread) as u32)) as usize;
    &events[..len.min(events.len())]
}

/// Whether the writes of a round leave nothing behind.
#[inline(never)]
fn leaves_no_write(graph: &Graph, thread: ThreadId, round: Range<u32>) -> bool {
    if round.start < graph.past_of(thread) {
        return false;
    }
    let all = events(graph, thread, &round);
    all.iter().enumerate().filter(|(_, event)| event.is_write()).all(|(index, event)| {
        let id = EventId { thread, index: round.start + index as u32 };
        let place = graph.position(event.addr, id);
        // Each row of writes is looked at once, from its first on.
        let follows = place > 1 && is_in(graph.write_at(event.addr, place - 1), thread, &round);
        follows || row_leaves_nothing(graph, thread, &round, event.addr, place)
    })
}

fn is_in(id: EventId, thread: ThreadId, round: &Range<u32>) -> bool {
    id.thread == thread && round.contains(&id.index)
}

/// The same of the writes of a round that stand next to each other, from a place of the location's order on.
fn row_leaves_nothing(graph: &Graph, thread: ThreadId, round: &Range<u32>, addr: Addr, first: usize) -> bool {
    if first <= graph.bottom(addr) {
        return false;
    }
    let before = graph.write_at(addr, first - 1);
    let row =
        graph.writes(addr)[first - 1..].iter().take_while(|&&write| is_in(write, thread, round)).count();
    let last = graph.write_at(addr, first + row - 1);
    if graph.value(addr, last) != graph.value(addr, before) && !mutant::is(Mutant::RoundChangesValue) {
        return false;
    }
    if !learns_no_more(graph, before, last) && !mutant::is(Mutant::RoundHidesRelease) {
        return false;
    }
    let mut readers = graph.reads(addr).iter().filter(|&&read| !is_in(read, thread, round));
    readers.all(|&read| {
        let source = graph.event(read).rf;
        source == last || !is_in(source, thread, round) || mutant::is(Mutant::RoundIsObserved)
    })
}

/// Whether a thread that reads `before` depends on nothing that it would not depend on if it read `last`, and
/// if it acquires learns nothing that it would not learn from `last`.
fn learns_no_more(graph: &Graph, before: EventId, last: EventId) -> bool {
    let depends = !graph.keeps_porf() || knows(graph.porf(last), before);
    before.is_init()
        || depends
            && graph.published(before).iter().zip(graph.published(last)).all(|(before, last)| before <= last)
}

/// A thread that waits in a loop: the events of its last round, from here on.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The thread.
    pub thread: ThreadId,
    /// The first event of the round.
    pub from: u32,
}

impl Waiting {
    /// Whether the event is in the round.
    pub fn has(&self, id: EventId) -> bool {
        id.thread == self.thread && id.index >= self.from
    }

    /// The events of the round, with their ids.
    pub fn events<'a>(&self, graph: &'a Graph) -> impl Iterator<Item = (EventId, &'a Event)> + 'a {
        let (thread, from) = (self.thread, self.from.max(graph.base(self.thread) as u32));
        let ids = (from..).map(move |index| EventId { thread, index });
        ids.zip(graph.since(thread, from))
    }

    /// Whether the round writes to the location.
    pub fn writes_to(&self, graph: &Graph, addr: Addr) -> bool {
        self.events(graph).any(|(_, event)| event.is_write() && event.addr == addr)
    }
}

/// Whether the thread would do the same again, if all these threads wait in their loops for ever: with their rounds taken
/// out, each of its reads sees the newest write, or what the round itself has written before, and nothing in the round
/// is a free choice.
pub fn repeats_for_ever(graph: &Graph, waiting: Waiting, all: &[Waiting]) -> bool {
    if waiting.from < graph.past_of(waiting.thread) {
        return false;
    }
    let in_round = |id: EventId| !id.is_init() && all.iter().any(|other| other.has(id));
    waiting.events(graph).all(|(id, event)| {
        if event.is_free() {
            return false;
        }
        if !event.is_read() {
            return true;
        }
        // The next round writes last: what this one has written before, the next one will see there.
        let earlier = waiting.events(graph).take_while(|(other, _)| *other != id);
        if earlier.into_iter().any(|(_, other)| other.is_write() && other.addr == event.addr) {
            return !event.rf.is_init() && waiting.has(event.rf);
        }
        // Nobody but those who wait may have written since.
        let since = graph.writes(event.addr).iter().rev().take_while(|&&write| write != event.rf);
        let others = since.copied().any(|write| !in_round(write));
        !others && (!in_round(event.rf) || is_last_of_row(graph, event.addr, event.rf, all))
    })
}

/// Whether a write of a round is the last that its thread has made there, which leaves what was there before.
fn is_last_of_row(graph: &Graph, addr: Addr, write: EventId, all: &[Waiting]) -> bool {
    let mut later = graph.writes(addr)[graph.position(addr, write)..].iter();
    !later.any(|next| next.thread == write.thread && all.iter().any(|other| other.has(*next)))
}
