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

/// Whether these events of a thread can be part of a round that leaves nothing behind.
pub fn may_all_be_dropped(graph: &Graph, thread: ThreadId, round: Range<u32>) -> bool {
    writes(graph, thread, &round).is_some()
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

/// How many rounds that write, and that nobody has noticed, a thread may have behind it and still go on.
///
/// If others may notice rounds, a thread must not stop at the first that nobody has noticed: graphs would be lost in which
/// somebody notices it after, or because of, something that the thread does later. The search adds what the thread does
/// later first, and points reads at it afterwards. An example under sequential consistency: T0 reads `y`; T1 `x = 1`; T2
/// `while x == 0 { lock; unlock } y = 1`; T3 tries to lock. That T0 reads 1 and T3 fails is found from the graph in
/// which T2 has `y = 1` after a round, and T3 has not been there yet.
///
/// A graph in which `n` rounds of a thread are noticed is found if so many may be unnoticed on the way. So the search begins
/// with none, looks at each graph for how many [are or may be](Undone::noticed), and
/// [starts over](crate::execution::Execution::wanted_spare) when that grows, or when a place of such rounds turns up which
/// earlier graphs were not looked at for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spare {
    /// So many.
    pub rounds: usize,
    /// The places that are known from the start.
    pub undone: Vec<Undone>,
}

/// More than so many are not tried: threads that notice each other's rounds may do so for ever.
pub const MOST_SPARE: usize = 3;

/// A place where a thread has made rounds that write and leave nothing behind, and who may notice that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The thread.
    pub thread: ThreadId,
    /// Where the rounds begin and end.
    pub site: Site,
    /// What the thread does there.
    op: (Kind, Rmw),
    /// The [names](Graph::name) of the locations that they write to, and who may notice that, in order.
    noticed_by: Vec<(u64, By)>,
}

/// Who may notice that a round writes to a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    /// Whoever tries to take the lock, since the round takes it and gives it back.
    Tries,
    /// Whoever writes, since the round stores what is there.
    Writes,
    /// Whoever reads or writes, since the round writes and undoes it.
    Accesses,
}

impl Undone {
    /// What these rounds show, which end where the thread is about to have an event at a place.
    pub fn new(graph: &Graph, thread: ThreadId, site: Site, rounds: &[Range<u32>]) -> Undone {
        let first = rounds.first().and_then(|round| events(graph, thread, round).first());
        let op = first.map_or((Kind::Read, Rmw::None), |event| (event.kind, event.rmw));
        let mut noticed_by = Vec::new();
        for round in rounds {
            let writes = events(graph, thread, round).iter().filter(|event| event.is_write());
            for event in writes.clone() {
                let by = if matches!(event.rmw, Rmw::Lock | Rmw::TryLock) {
                    By::Tries
                } else if writes.clone().filter(|other| other.addr == event.addr).count() > 1 {
                    By::Accesses
                } else if !event.is_update() {
                    By::Writes
                } else {
                    // An update that leaves what it finds cannot be told from none.
                    continue;
                };
                noticed_by.push((graph.name(event.addr), by));
            }
        }
        noticed_by.sort_unstable();
        noticed_by.dedup();
        Undone { thread, site, op, noticed_by }
    }

    /// Whether anybody may notice the rounds.
    pub fn may_be_noticed(&self) -> bool {
        !self.noticed_by.is_empty()
    }

    /// Whether others have [touched](Touched) what the rounds write to, so that they may have noticed.
    pub fn is_touched(&self, touched: &Touched) -> bool {
        self.noticed_by.iter().any(|&(name, by)| touched.by_others(name, self.thread, by == By::Writes))
    }

    /// How many rounds of the thread others have noticed in this graph, or may have noticed in another; `stopped`: the
    /// thread is still in the loop.
    ///
    /// Each round that is noticed takes an event of its own, of another thread: a read of one of its writes, or a write
    /// before or among them. Say that there is a graph with more than were seen to be noticed in any. Follow how it
    /// comes about, up to the first event that makes it so, and leave out that event and the round. What is left is a graph
    /// that is found. If the event depends on what the thread does after the loop, it is among those that come next there,
    /// so it is in a graph that is found. If not, leave out what the thread does after the loop, and let it make
    /// the round: then it is found how the event notices it.
    ///
    /// Others notice a round by events on the locations that it writes to. Another round from the same place may write
    /// to other locations; but then a graph is found in which it does so, and nobody has noticed.
    pub fn noticed(&self, graph: &Graph, stopped: bool) -> usize {
        let Undone { thread, site, op, .. } = *self;
        if !self.is_accessed(graph) {
            return 0;
        }
        let base = graph.base(thread) as u32;
        let begins = |event: &Event| event.site == site && (event.kind, event.rmw) == op;
        let arrivals = graph.thread(thread).iter().zip(base..).filter(|(event, _)| begins(event));
        let arrivals: Vec<u32> = arrivals.map(|(_, index)| index).collect();
        let rounds = arrivals.windows(2).map(|ends| ends[0]..ends[1]);
        let matter: Vec<Range<u32>> = rounds.filter(|round| may_be_unnoticed(graph, thread, round)).collect();
        let noticed = witnesses(graph, thread, &matter).take(matter.len()).count();
        let last = arrivals.last().copied().unwrap_or_default();
        noticed + usize::from(!stopped && self.may_be_noticed_after(graph, last))
    }

    /// Whether another thread has had to do with what the rounds write to.
    fn is_accessed(&self, graph: &Graph) -> bool {
        let addrs = (0..graph.location_count()).map(|index| Addr(index as u32));
        addrs.into_iter().any(|addr| {
            let is_other = |id: &EventId| id.thread != self.thread;
            self.noticed_by.iter().any(|&(name, by)| {
                may_be_same(name, graph.name(addr))
                    && (graph.writes(addr).iter().any(is_other)
                        || by != By::Writes && graph.reads(addr).iter().any(is_other))
            })
        })
    }

    /// Whether another thread, which depends on something that the thread has done after an event, has an event that may
    /// notice a round. If what the thread has done happens before it, so does the round, and it cannot.
    fn may_be_noticed_after(&self, graph: &Graph, last: u32) -> bool {
        let after = EventId { thread: self.thread, index: last + 1 };
        let mut others = (0..graph.thread_count()).map(|other| ThreadId(other as u32));
        others.any(|other| {
            let base = graph.base(other) as u32;
            let mut events = graph.thread(other).iter().zip(base..);
            other != self.thread
                && events.any(|(event, index)| {
                    let id = |index| EventId { thread: other, index };
                    let is_before = || index > base && knows(graph.hb(id(index - 1)), after);
                    self.may_be_noticed_by(graph, event)
                        && (!graph.keeps_porf() || knows(graph.porf(id(index)), after))
                        && !is_before()
                })
        })
    }

    fn may_be_noticed_by(&self, graph: &Graph, event: &Event) -> bool {
        if !(event.is_read() || event.is_write()) || is_of_lock(event) {
            return false;
        }
        let is_lock = || graph.writes(event.addr).iter().any(|id| is_of_lock(graph.event(*id)));
        self.noticed_by.iter().any(|&(name, by)| {
            may_be_same(name, graph.name(event.addr))
                && match by {
                    By::Tries => is_lock(),
                    By::Writes => event.is_write(),
                    By::Accesses => true,
                }
        })
    }
}

/// Whether these may be names of the same location.
fn may_be_same(name: u64, other: u64) -> bool {
    name == other || name == 0 || other == 0
}

/// Which threads have had to do with a location in any run of a search, by its [name](Graph::name). If nobody else has
/// had to do with what rounds write to, nobody has noticed them in any run so far.
#[derive(Debug, Default)]
pub struct Touched {
    /// In order of names.
    all: Vec<Accesses>,
    /// What was noted last of each location.
    last: Vec<Accesses>,
}

/// The threads that access a location, as bits; the last stands for all further threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Accesses {
    name: u64,
    reads: u64,
    writes: u64,
}

impl Touched {
    /// The last bit.
    const REST: u32 = u64::BITS - 1;

    fn bit(thread: ThreadId) -> u64 {
        1 << thread.0.min(Touched::REST)
    }

    /// Notes what these events of a thread access.
    pub fn note(&mut self, graph: &Graph, thread: ThreadId, events: &[Event]) {
        self.last.resize(graph.location_count().max(self.last.len()), Accesses::default());
        let bit = Touched::bit(thread);
        for event in events.iter().filter(|event| event.is_read() || event.is_write()) {
            let name = graph.name(event.addr);
            let (reads, writes) =
                (if event.is_read() { bit } else { 0 }, if event.is_write() { bit } else { 0 });
            let last = &mut self.last[event.addr.index()];
            if last.name != name {
                *last = Accesses { name, reads: 0, writes: 0 };
            }
            if (last.reads & reads, last.writes & writes) != (reads, writes) {
                (last.reads, last.writes) = (last.reads | reads, last.writes | writes);
                let now = *last;
                self.add(now);
            }
        }
    }

    fn add(&mut self, now: Accesses) {
        match self.all.binary_search_by_key(&now.name, |known| known.name) {
            Ok(place) => {
                self.all[place].reads |= now.reads;
                self.all[place].writes |= now.writes;
            }
            Err(place) => self.all.insert(place, now),
        }
    }

    /// Whether another thread has accessed, or written to, a location of this name.
    fn by_others(&self, name: u64, thread: ThreadId, writes: bool) -> bool {
        let own = if thread.0 < Touched::REST { Touched::bit(thread) } else { 0 };
        let others = |known: &Accesses| (known.writes | if writes { 0 } else { known.reads }) & !own != 0;
        match self.all.binary_search_by_key(&name, |known| known.name) {
            _ if name == 0 => true,
            Ok(place) if others(&self.all[place]) => true,
            // Any location may be one without a name.
            _ => self.all.first().is_some_and(|first| first.name == 0 && others(first)),
        }
    }
}

/// Whether a round writes and leaves something behind, and would not if some events were not there yet that the thread
/// does not depend on when it comes to the end of the round. If it depends on all of them, every graph in which
/// it comes that far has them: nobody has to wait for the round to be noticed.
fn may_be_unnoticed(graph: &Graph, thread: ThreadId, round: &Range<u32>) -> bool {
    if writes(graph, thread, round) != Some(true) || leaves_no_write(graph, thread, round.clone()) {
        return false;
    }
    let end = EventId { thread, index: round.end };
    !graph.keeps_porf() || leaves_no_write_among(graph, thread, round, |id| knows(graph.porf(end), id))
}

/// The events of other threads that may have noticed one of these rounds.
fn witnesses<'a>(
    graph: &'a Graph,
    thread: ThreadId,
    rounds: &'a [Range<u32>],
) -> impl Iterator<Item = &'a Event> {
    let others = (0..graph.thread_count()).map(|other| ThreadId(other as u32));
    let accesses = others.filter(move |&other| other != thread && !rounds.is_empty());
    let accesses = accesses.flat_map(|other| graph.thread(other));
    let accesses = accesses.filter(|event| (event.is_read() || event.is_write()) && !is_of_lock(event));
    accesses.filter(move |event| rounds.iter().any(|round| writes_to(graph, thread, round, event.addr)))
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

/// Whether an event writes a value that was not there before the thread's last writes to the location, and another
/// thread has read it: then no round with the event leaves nothing behind, whatever the thread does later.
#[inline]
pub fn is_noticed(graph: &Graph, id: EventId) -> bool {
    let event = graph.event(id);
    let noticed = |read: &EventId| read.thread != id.thread && graph.event(*read).rf == id;
    event.is_write() && graph.reads(event.addr).iter().any(noticed) && {
        let (bottom, place) = (graph.bottom(event.addr), graph.position(event.addr, id));
        let before = (bottom..place).rev().map(|place| graph.write_at(event.addr, place));
        let own = before.clone().take_while(|write| write.thread == id.thread && !write.is_init()).count();
        // The first that is not the thread's own, too.
        place - bottom > own
            && before.take(own + 1).all(|write| graph.value(event.addr, write) != event.value)
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
    leaves_no_write_among(graph, thread, &round, |_| true)
}

/// The same in the graph of these events only.
#[inline(always)]
fn leaves_no_write_among(
    graph: &Graph,
    thread: ThreadId,
    round: &Range<u32>,
    there: impl Fn(EventId) -> bool,
) -> bool {
    if round.start < graph.past_of(thread) {
        return false;
    }
    let all = events(graph, thread, round);
    all.iter().enumerate().filter(|(_, event)| event.is_write()).all(|(index, event)| {
        let id = EventId { thread, index: round.start + index as u32 };
        let place = graph.position(event.addr, id);
        let earlier = graph.writes(event.addr)[..place - 1].iter().rposition(|&write| there(write));
        let before = earlier.map_or(0, |earlier| earlier + 1);
        // Each row of writes is looked at once, from its first on.
        let follows = before > 0 && is_in(graph.write_at(event.addr, before), thread, round);
        follows || row_leaves_nothing(graph, thread, round, event.addr, before, &there)
    })
}

fn is_in(id: EventId, thread: ThreadId, round: &Range<u32>) -> bool {
    id.thread == thread && round.contains(&id.index)
}

/// The same of the writes of a round that stand next to each other, behind a place of the location's order.
#[inline(always)]
fn row_leaves_nothing(
    graph: &Graph,
    thread: ThreadId,
    round: &Range<u32>,
    addr: Addr,
    before: usize,
    there: &impl Fn(EventId) -> bool,
) -> bool {
    if before < graph.bottom(addr) {
        return false;
    }
    let later = graph.writes(addr)[before..].iter().copied().filter(|&write| there(write));
    let row = later.take_while(|&write| is_in(write, thread, round));
    let before = graph.write_at(addr, before);
    let Some(last) = row.last() else { return true };
    if graph.value(addr, last) != graph.value(addr, before) && !mutant::is(Mutant::RoundChangesValue) {
        return false;
    }
    if !learns_no_more(graph, before, last) && !mutant::is(Mutant::RoundHidesRelease) {
        return false;
    }
    let mut readers = graph.reads(addr).iter().filter(|&&read| there(read) && !is_in(read, thread, round));
    readers.all(|&read| {
        let source = graph.event(read).rf;
        source == last || !is_in(source, thread, round) || mutant::is(Mutant::RoundIsObserved)
    })
}

/// Whether a thread that reads `before` depends on nothing that it would not depend on if it read `last`, and
/// if it acquires learns nothing that it would not learn from `last`.
fn learns_no_more(graph: &Graph, before: EventId, last: EventId) -> bool {
    let depends =
        !graph.keeps_porf() || knows(graph.porf(last), before) || mutant::is(Mutant::RoundIsFollowed);
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
    /// The first event of the rounds before it which have led to the same state, too.
    pub since: u32,
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
/// is a free choice. `patient`: nor does another round write another value there for a while, which may let the thread
/// go on some time.
pub fn repeats_for_ever(graph: &Graph, waiting: Waiting, all: &[Waiting], patient: bool) -> bool {
    if waiting.from < graph.past_of(waiting.thread) {
        return false;
    }
    let in_round = |id: EventId| !id.is_init() && all.iter().any(|other| other.has(id));
    waiting.events(graph).all(|(id, event)| {
        if event.is_free() {
            return mutant::is(Mutant::ChoicesForEver);
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
        let is_lock = is_of_lock(event);
        let matters = |write: EventId| !(in_round(write) || is_lock && takes_in_turn(write, all));
        let others = since.copied().any(matters) && !mutant::is(Mutant::StaleReadsForEver);
        let seen = graph.read_value(id);
        let changes = |write: EventId, other: &Event| {
            other.is_write() && other.addr == event.addr && graph.value(event.addr, write) != seen
        };
        let mut rounds = all.iter().filter(|other| other.thread != waiting.thread);
        // Who waits for a lock finds it free in the end, whoever has it for a while.
        let for_a_while = patient
            && !is_lock
            && rounds.any(|other| other.events(graph).any(|(write, event)| changes(write, event)));
        let is_lasting = |write| !in_round(write) || is_lock || is_last_of_row(graph, event.addr, write, all);
        !others && !for_a_while && is_lasting(event.rf)
    })
}

/// Whether a write, to a lock, belongs to a round after which a thread that waits was where it was before. Such a thread takes the lock
/// and gives it back, and may have it where it stands.
fn takes_in_turn(write: EventId, all: &[Waiting]) -> bool {
    all.iter().any(|other| other.thread == write.thread && other.since <= write.index)
}

/// Whether a write of a round is the last that its thread has made there, which leaves what was there before.
fn is_last_of_row(graph: &Graph, addr: Addr, write: EventId, all: &[Waiting]) -> bool {
    let mut later = graph.writes(addr)[graph.position(addr, write)..].iter();
    !later.any(|next| next.thread == write.thread && all.iter().any(|other| other.has(*next)))
}
