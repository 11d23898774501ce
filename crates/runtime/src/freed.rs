//! Memory that is freed while other threads may have a pointer into it.
//!
//! What threads do with plain memory is in no graph, and an execution is run in one order of steps: if whoever uses a block happens to
//! come before the free, nothing shows. So an execution with such a free is run once more, in an order in which the free
//! comes as early as it can: all that must come before it by `po ∪ rf` has, and nothing else; each thread stops right behind
//! its last op of those ([`Turn`]). The pages of the block cannot be used from then on, so that whoever touches it is
//! noticed, at once and exactly. It is a use after free whatever else is true of the program, since the
//! execution was carried out. If the program does something else than before, nothing has been learnt, which is said.
//!
//! What a thread does between two ops is decided by what comes before it by `po ∪ rf`. So a free and a stretch of
//! another thread that were met together need not be met again: [`Freed::is_new`].
//!
//! Frees that are not looked at: those that happen after all that the other threads do; and of blocks that the thread which frees them has
//! allocated itself, if no other can know before the free of anything that it did in between, and no op has had their address. A use that comes before the free by `po ∪ rf`, and does not happen
//! before it, is not noticed so; that there may be one is said.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use unpick_core::event::{Event, EventId};
use unpick_core::execution::{Outcome, Turn};
use unpick_core::graph::Graph;
use unpick_core::op::{Kind as OpKind, Op, Site, ThreadId};
use unpick_core::violation::{Access, Block, Kind, Point, Violation};

use crate::arena::{self, FREED};
use crate::facts::Fact;
use crate::session::{self, Session};
use crate::site;

/// Bits of [`Fact::FreesAreWatched`]: each block has pages of its own, and all of those that are freed cannot be used afterwards.
const PAGED: u64 = 1;
const GUARDED: u64 = 2;

/// Whether a thread that has touched what it must not can be made to stop there.
const CAN_STOP: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// How many pairs are kept at most of those that were met.
const MOST: usize = 1 << 20;

/// Where a thread stands when it frees something: after so many events.
type Place = (ThreadId, u32);

/// What is known of memory that is freed while other threads may have a pointer into it.
#[derive(Default)]
pub(crate) struct Freed {
    /// The frees of this run that are to be looked at; for those of a thread's own blocks after how many of its events the first of them was
    /// allocated.
    loose: Vec<(Place, Option<u32>)>,
    /// Whether blocks were freed that are not, unless an op has had their address.
    any_own: bool,
    /// Whose frees make pages unusable in this run, if not all do.
    watched: Vec<Place>,
    all_watched: bool,
    /// Pages that cannot be used now.
    guarded: Vec<Range<usize>>,
    /// Pairs of a free and a stretch that were met.
    met: HashSet<u128, BuildHasherDefault<Low>>,
    keys: Vec<u128>,
    hashes: Vec<Vec<u128>>,
    /// How many repetitions went another way.
    astray: u64,
    /// Whether there were frees that could not be looked at.
    unseen: bool,
    /// An op of a thread, and a later one of another that frees something after it, where nothing orders what comes before the
    /// first one before the free.
    unordered: Option<(Site, Site)>,
}

/// Takes the lower half of what is a hash already.
#[derive(Default)]
struct Low(u64);

impl Hasher for Low {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u128(&mut self, number: u128) {
        self.0 = number as u64;
    }
}

fn mix(sum: u128, number: u128) -> u128 {
    const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let mixed = (sum ^ number).wrapping_mul(ODD);
    (mixed ^ mixed >> 64).wrapping_mul(ODD) ^ mixed >> 57
}

impl Freed {
    /// A run begins, which repeats an execution if there are turns to take.
    pub(crate) fn begin(&mut self, known: u64, turns: &[Turn]) {
        self.loose.clear();
        self.any_own = false;
        self.watched.clear();
        self.watched.extend(turns.iter().map(|turn| (turn.thread, turn.len_of(turn.thread))));
        self.all_watched = known & GUARDED != 0;
    }

    /// A block is freed, while there is another thread. `birth`: after how many of its events the thread has allocated it, if that was this
    /// one.
    #[inline]
    pub(crate) fn note(&mut self, place: Place, birth: Option<u32>) {
        if birth == Some(place.1) {
            self.any_own = true;
            return;
        }
        match self.loose.last_mut() {
            Some((last, first)) if *last == place => {
                *first = (*first).zip(birth).map(|(one, other)| one.min(other))
            }
            _ => self.loose.push((place, birth)),
        }
    }

    /// Whether there is nothing to look at.
    #[inline]
    fn are_none(&self) -> bool {
        self.loose.is_empty() && !self.any_own
    }

    /// Whether pages become unusable in this run.
    #[inline]
    pub(crate) fn guards(&self, place: Place) -> bool {
        self.all_watched || self.watched.contains(&place)
    }

    /// Makes pages unusable.
    pub(crate) fn guard(&mut self, pages: Option<Range<usize>>) {
        match pages.filter(|pages| CAN_STOP && arena::protect(pages, false)) {
            Some(pages) => self.guarded.push(pages),
            None => self.unseen = true,
        }
    }

    /// Whether an address is on a page that was made unusable.
    pub(crate) fn holds(&self, address: usize) -> bool {
        self.guarded.iter().any(|pages| pages.contains(&address))
    }

    /// Makes the pages of an address usable again, which the engine itself looks at.
    pub(crate) fn give_up(&mut self, address: usize) {
        if let Some(index) = self.guarded.iter().position(|pages| pages.contains(&address)) {
            arena::protect(&self.guarded.swap_remove(index), true);
        }
    }

    /// A run has ended.
    pub(crate) fn end(&mut self) {
        for pages in self.guarded.drain(..) {
            arena::protect(&pages, true);
        }
    }

    /// What was not looked at.
    pub(crate) fn assumptions(&self) -> Vec<String> {
        let mut told = Vec::new();
        if self.unseen {
            told.push(String::from(
                "some memory that other threads may have a pointer to was freed where it could not be watched: uses of it \
                 afterwards that are no operations were looked for in one order of steps only",
            ));
        }
        if self.astray > 0 {
            told.push(format!(
                "{} of the executions that free memory did something else when they were run again in another order: plain uses \
                 of that memory were looked for in one order only; threads share something that is not seen",
                self.astray
            ));
        }
        if let Some((used, freed)) = self.unordered {
            told.push(format!(
                "memory that is freed after {} is not used by another thread before {}, other than by operations: nothing would \
                 order such a use before the free",
                site::describe(freed),
                site::describe(used)
            ));
        }
        told
    }

    /// Whether a free was not met before together with one of the stretches that other threads run through after it or beside it. The pairs
    /// are kept in `keys`.
    fn is_new(&mut self, graph: &Graph, (thread, index): Place, view: &[u32]) -> bool {
        let hash = |thread: ThreadId, events: u32| match events.checked_sub(1) {
            Some(last) => self.hashes[thread.index()][last as usize],
            None => first(&self.hashes, graph, thread),
        };
        let free = hash(thread, index);
        let known = self.keys.len();
        for other in others(graph, thread) {
            let len = graph.thread_len(other) as u32;
            let last = if graph.is_finished(other) { len.saturating_sub(1) } else { len };
            let from = view.get(other.index()).copied().unwrap_or(0);
            for events in from..=last {
                let key = mix(free, hash(other, events));
                if !self.met.contains(&key) {
                    self.keys.push(key);
                }
            }
        }
        self.keys.len() > known
    }

    /// Computes for each event a hash of what comes before it by `po ∪ rf`.
    fn hash_all(&mut self, graph: &Graph) {
        let hashes = &mut self.hashes;
        hashes.resize_with(graph.thread_count().max(hashes.len()), Vec::new);
        hashes.iter_mut().for_each(Vec::clear);
        let mut left = graph.len();
        while left > 0 {
            let before = left;
            for thread in (0..graph.thread_count()).map(|t| ThreadId(t as u32)) {
                if !graph.exists(thread)
                    || graph.spawn_of(thread).is_some_and(|spawn| hash_of(hashes, spawn).is_none())
                {
                    continue;
                }
                let events = graph.thread(thread);
                while let Some(event) = events.get(hashes[thread.index()].len()) {
                    let Some(hash) = hash_event(hashes, graph, thread, event) else { break };
                    hashes[thread.index()].push(hash);
                    left -= 1;
                }
            }
            assert!(left < before, "a graph has an order that extends po and rf");
        }
    }
}

fn others(graph: &Graph, thread: ThreadId) -> impl Iterator<Item = ThreadId> + '_ {
    let all = (0..graph.thread_count()).map(|t| ThreadId(t as u32));
    all.filter(move |&other| other != thread && graph.exists(other))
}

fn hash_of(hashes: &[Vec<u128>], id: EventId) -> Option<u128> {
    hashes[id.thread.index()].get(id.index as usize).copied()
}

/// What comes before the first event of a thread.
fn first(hashes: &[Vec<u128>], graph: &Graph, thread: ThreadId) -> u128 {
    let spawn = graph.spawn_of(thread).and_then(|spawn| hash_of(hashes, spawn)).unwrap_or(1);
    mix(spawn, u128::from(thread.0) + 2)
}

fn hash_event(hashes: &[Vec<u128>], graph: &Graph, thread: ThreadId, event: &Event) -> Option<u128> {
    let own = hashes[thread.index()].last().copied().unwrap_or_else(|| first(hashes, graph, thread));
    let seen = match event.kind {
        OpKind::Read if event.rf.is_init() => 0,
        OpKind::Read => hash_of(hashes, event.rf)?,
        OpKind::Choice => u128::from(event.value),
        OpKind::Join => *hashes[event.value as usize]
            .get(graph.thread_len(ThreadId(event.value as u32)).checked_sub(1)?)?,
        _ => 0,
    };
    Some(mix(mix(own, seen), 1 + u128::from(event.has(Event::SPURIOUS))))
}

/// Looks at an execution once more that frees memory which other threads may have a pointer to: if it has ended without a violation,
/// or with one that may come of what was found in freed memory.
#[inline]
pub(crate) fn look_again(session: *mut Session, outcome: Outcome) -> Outcome {
    // SAFETY: the caller owns the session; no fiber runs.
    let s = unsafe { &mut *session };
    let asks = match &outcome {
        Outcome::Complete | Outcome::Blocked(_) => true,
        Outcome::Violated(violation) => {
            !s.fatal && matches!(violation.kind, Kind::Panic { .. } | Kind::Crash { .. })
        }
        _ => false,
    };
    if s.freed.are_none() || !asks || s.recorder.is_some() {
        return outcome;
    }
    look(session).unwrap_or(outcome)
}

#[inline(never)]
fn look(session: *mut Session) -> Option<Outcome> {
    // SAFETY: as in `look_again`; the reference is not used while the program runs.
    let s = unsafe { &mut *session };
    if s.search.execution.samples() || s.search.execution.keeps_order() {
        return None;
    }
    let places = s.loose_places();
    if places.is_empty() {
        return None;
    }
    if !CAN_STOP || !s.is_on_arenas() || s.uses_heap() {
        s.freed.unseen = true;
        return None;
    }
    if s.search.learn(Fact::FreesAreWatched as usize, PAGED) {
        return Some(Outcome::Rerun);
    }
    for chain in s.new_chains(&places) {
        // SAFETY: as above.
        let ended = unsafe { session::run_again(session, &chain) };
        // SAFETY: as above.
        let s = unsafe { &mut *session };
        if let Some(outcome) = s.judge_again(&chain, ended) {
            return Some(outcome);
        }
    }
    // SAFETY: as above.
    let Freed { met, keys, .. } = unsafe { &mut (*session).freed };
    met.extend(keys.drain(..));
    None
}

impl Session {
    /// The places of frees that other threads may not be done with.
    fn loose_places(&mut self) -> Vec<Place> {
        let graph = self.search.execution.graph();
        let mut any_own = self.freed.any_own;
        let shared = |&((thread, index), birth): &(Place, Option<u32>)| {
            let is_private = birth.is_some_and(|birth| nobody_knows(graph, thread, birth, index));
            any_own |= is_private;
            (!is_private).then_some((thread, index))
        };
        let mut places: Vec<Place> = self.freed.loose.iter().filter_map(shared).collect();
        if any_own {
            self.find_published(&mut places);
        }
        places.sort_unstable_by_key(|&(thread, index)| (thread.index(), index));
        places.dedup();
        let graph = self.search.execution.graph();
        let mut view = Vec::new();
        places.retain(|&(thread, index)| {
            graph.view_into(thread, index as usize, &mut view);
            others(graph, thread).any(|other| {
                let known =
                    view.get(other.index()).is_some_and(|&known| known as usize >= graph.thread_len(other));
                !known || !graph.is_finished(other)
            })
        });
        places
    }

    /// Frees of blocks that did not last until the next op, and whose address is in a value all the same. Some bits of it may
    /// be put to another use.
    #[cold]
    fn find_published(&self, places: &mut Vec<Place>) {
        let graph = self.search.execution.graph();
        for &id in graph.order() {
            let event = graph.event(id);
            let value = event.value as usize;
            for address in [value, value & ((1 << 48) - 1), value >> 16] {
                if !event.is_write() || !arena::is_ours(address) {
                    continue;
                }
                let arena = self.heap.arenas.iter().flatten().find(|arena| arena.contains(address));
                let freed = arena.and_then(|arena| arena.notes()[arena.find(address)?.0].freed());
                places.extend(freed);
            }
        }
    }

    /// The turns of threads whose frees were not met before with all that others do.
    fn new_chains(&mut self, places: &[Place]) -> Vec<Vec<Turn>> {
        let graph = self.search.execution.graph();
        let freed = &mut self.freed;
        // Time passes when all before has been done, in whatever order.
        let timeless = !graph.order().iter().any(|&id| graph.event(id).is_timeout());
        if timeless {
            freed.hash_all(graph);
        }
        if freed.met.len() > MOST {
            freed.met.clear();
        }
        freed.keys.clear();
        let mut view = Vec::new();
        let mut chains = Vec::new();
        for places in places.chunk_by(|one, other| one.0 == other.0) {
            let mut new = !timeless;
            for &place in places.iter().filter(|_| timeless) {
                graph.view_into(place.0, place.1 as usize, &mut view);
                new |= freed.is_new(graph, place, &view);
            }
            if new {
                let turns: Vec<Turn> =
                    places.iter().map(|&(thread, index)| Turn::new(graph, thread, index)).collect();
                for (turn, &(thread, index)) in turns.iter().zip(places) {
                    graph.view_into(thread, index as usize, &mut view);
                    freed.unordered = freed.unordered.or_else(|| unordered(graph, turn, index, &view));
                }
                chains.push(turns);
            }
        }
        chains
    }

    /// What comes of a repetition.
    fn judge_again(&mut self, chain: &[Turn], ended: Option<Outcome>) -> Option<Outcome> {
        let outcome = ended?;
        let refused = self.search.error.take().is_some();
        match outcome {
            Outcome::Violated(violation) if is_of_memory(&violation.kind) => {
                let freed = match &violation.kind {
                    Kind::UseAfterFree { freed, .. } | Kind::DoubleFree { first: freed, .. } => {
                        Some((freed.thread, freed.index))
                    }
                    _ => None,
                };
                let graph = self.search.execution.graph();
                let turn = freed
                    .map(|(thread, index)| Turn::new(graph, thread, index))
                    .or_else(|| chain.last().cloned());
                self.search.turn = turn;
                Some(Outcome::Violated(violation))
            }
            Outcome::Rerun if !refused => Some(Outcome::Rerun),
            _ => {
                self.freed.astray += 1;
                None
            }
        }
    }

    /// The running thread has touched an address; the violation, if it is one of memory that was made unusable.
    pub(crate) fn touched(&mut self, thread: ThreadId, address: usize, writes: bool) -> Option<Kind> {
        if !self.freed.holds(address) {
            return None;
        }
        let (owner, arena) = self.heap.arenas.iter().enumerate().find_map(|(t, arena)| {
            let arena = arena.as_ref().filter(|arena| arena.contains(address))?;
            Some((ThreadId(t as u32), arena))
        })?;
        let (number, _) = arena.find(address)?;
        let note = arena.notes()[number];
        let (by, index) = note.freed()?;
        let point = Point { thread, index: self.search.execution.position(thread), site: Site(0) };
        let block = Block { thread: owner, number, birth: note.birth, size: note.size() };
        // It is to show again where it is told.
        self.search.knowledge.learn(Fact::FreesAreWatched as usize, PAGED | GUARDED);
        Some(Kind::UseAfterFree {
            access: Access { point, writes, atomic: false },
            freed: Point { thread: by, index, site: Site(0) },
            after: true,
            block,
            object: String::from("memory"),
        })
    }

    /// A new op has been given a value that is what freed memory is filled with. From now on, all that is freed cannot be used;
    /// if that is so already, the execution ends here.
    #[cold]
    #[inline(never)]
    pub(crate) fn got_freed_value(&mut self, thread: ThreadId, op: &Op) {
        if !self.search.execution.samples()
            && CAN_STOP
            && self.is_on_arenas()
            && self.search.learn(Fact::FreesAreWatched as usize, PAGED | GUARDED)
        {
            return;
        }
        let problem =
            String::from("an operation was given a value that comes from memory that had been freed");
        let point = Point { thread, index: self.search.execution.position(thread) - 1, site: op.site };
        self.search.execution.fail(Violation { kind: Kind::Crash { problem }, point });
    }
}

/// Whether no other thread can have come to know, before a thread frees something after its first `index` events, of what that thread has
/// done since it had `birth` of them.
fn nobody_knows(graph: &Graph, thread: ThreadId, birth: u32, index: u32) -> bool {
    let mut view = Vec::new();
    let between = |view: &[u32]| {
        let known = view.get(thread.index()).copied().unwrap_or(0);
        birth < known && known <= index
    };
    others(graph, thread).all(|other| {
        let len = graph.thread_len(other);
        graph.view_into(other, len, &mut view);
        let last = between(&view);
        !last && !(0..len).any(|event| between(graph.hb(EventId::new(other, event))))
    })
}

/// Whether an op has a value of eight bytes that is what freed memory is filled with.
#[inline(always)]
pub(crate) fn has_freed_value(op: &Op) -> bool {
    const PATTERN: u64 = u64::from_ne_bytes([FREED; 8]);
    op.operand == PATTERN || op.expected == PATTERN
}

/// Whether a violation is one that a thread runs into whatever else the execution does.
fn is_of_memory(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::UseAfterFree { .. } | Kind::DoubleFree { .. } | Kind::InvalidFree { .. } | Kind::Crash { .. }
    )
}

/// An op of another thread that comes before a turn by `po ∪ rf`, and does not happen before it; and the op that the turn comes after.
fn unordered(graph: &Graph, turn: &Turn, index: u32, view: &[u32]) -> Option<(Site, Site)> {
    let last = index.checked_sub(1).map(|index| EventId { thread: turn.thread, index });
    let last = last.or_else(|| graph.spawn_of(turn.thread))?;
    let other = others(graph, turn.thread)
        .find(|other| view.get(other.index()).copied().unwrap_or(0) < turn.len_of(*other))?;
    let first = EventId { thread: other, index: view.get(other.index()).copied().unwrap_or(0) };
    Some((graph.event(first).site, graph.event(last).site))
}
