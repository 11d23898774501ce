//! Loops that wait: recognised by the state they come back to.
//!
//! A loop iteration that only reads, and after which the thread is exactly where it was before
//! (same code position, same live stack, same registers), has done nothing: an execution with it
//! is as good as one without. So the thread is stopped at the second arrival; whatever else it
//! could read there, it can read at the first.
//!
//! Only reads at *suspect* places are looked at: places that a thread has reached twice with no
//! write in between. At those the stack and the registers that a callee must preserve are kept. A
//! suspect where states never come back, in a loop that has another one, is dropped again.
//! When a state comes back, the iteration is repeated once more as a *ghost*: the same answers
//! are given, no event is added, and the memory of all threads is compared before and after. That
//! tells loops that count in memory from loops that only wait.
//!
//! A write of the value just read counts as no write: `while lock.swap(true) {}` only waits.
//!
//! Nor does a round that leaves everything as it was change anything. That is so for waits with a
//! time limit: the thread gives up, takes its lock, looks, gives the lock back, and waits again. And for
//! loops that take a lock, look, and give it back. Only rounds from giving up to giving up, or from lock to
//! lock, are looked at in this way, and the latter only once there were some in a row: most loops around
//! a lock do something, which is not seen as an event.
//!
//! Where executions are drawn at random, a loop that is not recognised just goes on, and most loops end
//! soon. There a thread is watched only while it goes round: when it has been at a suspect place for a few
//! times in a row, until it writes.

use std::ops::Range;

use unpick_core::event::EventId;
use unpick_core::execution::Execution;
use unpick_core::graph::Graph;
use unpick_core::op::{Addr, Kind, Op, Rmw, Site, ThreadId, Value};
use unpick_core::thread_set::ThreadSet;
use unpick_core::violation::{Point, Wait, Waiter};

use crate::ghost::Ghost;

/// The state of a thread at a suspect place, before its event `at`: its live stack, registers on
/// top.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// Where the thread stands.
    pub site: Site,
    /// Its next event.
    pub at: u32,
    /// Its live stack, registers on top.
    pub live: &'a [u8],
    /// Whether the thread is about to give up waiting, or to take a lock: [`undoes`].
    pub gives_up: bool,
}

/// Whether a round of a loop that ends before such an op may have changed something and undone it.
#[inline(always)]
pub fn undoes(rmw: Rmw) -> bool {
    matches!(rmw, Rmw::GiveUp | Rmw::Lock)
}

impl State<'_> {
    /// A hash of the state.
    pub fn hash(&self) -> u64 {
        hash(self.live, self.live.as_ptr() as u64)
    }
}

/// A state that a thread was in since it last changed anything.
#[derive(Clone, Copy, Debug)]
struct Visit {
    site: Site,
    at: u32,
    /// Where the stack ended.
    stack: usize,
    /// Where the copy of the stack begins.
    copy: usize,
}

/// The states that a thread was in since it last changed anything.
#[derive(Debug, Default)]
struct Visits {
    visits: Vec<Visit>,
    /// Copies of the stacks, one after the other.
    copies: Vec<u8>,
}

impl Visits {
    fn clear(&mut self) {
        self.visits.clear();
        self.copies.clear();
    }

    /// Notes a state, and looks whether the thread was in it before and has changed nothing since.
    fn add(
        &mut self,
        graph: &Graph,
        thread: ThreadId,
        state: &State<'_>,
        gives_up: bool,
        most: usize,
    ) -> Arrival {
        let stack = state.live.as_ptr() as usize;
        let mut arrival = Arrival::First;
        let gone = self.visits.first().is_some_and(|first| first.at < graph.past_of(thread));
        if gone || self.visits.len() >= most {
            self.clear();
        }
        if let Some(last) = self.visits.last() {
            if last.at >= state.at {
                return Arrival::First;
            } else if are_idle(graph, thread, last.at..state.at, gives_up) {
                for visit in self.visits.iter().rev().filter(|visit| visit.site == state.site) {
                    if visit.stack == stack
                        && self.copies[visit.copy..].starts_with(state.live)
                        && (!gives_up || changes_nothing(graph, thread, visit.at..state.at, state.gives_up))
                    {
                        arrival = Arrival::Back(visit.at);
                        break;
                    }
                    arrival = Arrival::Changed;
                }
            } else {
                self.clear();
            }
        }
        self.note(state);
        arrival
    }

    /// Whether so many of the states are of this place.
    fn has(&self, site: Site, count: usize) -> bool {
        self.visits.iter().filter(|visit| visit.site == site).take(count + 1).count() == count
    }

    /// Notes a state.
    fn note(&mut self, state: &State<'_>) {
        let stack = state.live.as_ptr() as usize;
        self.visits.push(Visit { site: state.site, at: state.at, stack, copy: self.copies.len() });
        self.copies.extend_from_slice(state.live);
    }
}

/// How a thread comes to a suspect place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// For the first time since it changed anything.
    First,
    /// In another state than before.
    Changed,
    /// In the state in which it was at this event.
    Back(u32),
}

/// So many arrivals in changed states make a suspect dull, if no state has ever come back.
const DULL: u32 = 4;

/// After so many runs dull suspects are dropped, and the exploration starts anew.
const YOUNG: u64 = 64;

/// What nobody has looked for yet.
const UNKNOWN: u32 = u32::MAX;

/// What is known of a suspect.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// How often threads came there in another state than before.
    changes: u32,
    /// The suspects that were passed each time, a bit each.
    passes: u64,
    /// Whether a state has come back there.
    came_back: bool,
    /// Whether it was dropped before, and is needed all the same.
    again: bool,
    /// Whether wiping was tried for it.
    wiped: bool,
    /// What a thread does there.
    rmw: Rmw,
}

impl Record {
    /// Whether it is dropped if its loops have another suspect.
    fn is_dull(&self) -> bool {
        !self.came_back && !self.again && self.changes >= DULL
    }

    /// Whether it is dropped anyway: most loops around a lock do not wait.
    fn is_dull_lock(&self) -> bool {
        self.rmw == Rmw::Lock && self.is_dull()
    }
}

/// After so many states of a thread at a suspect place, each of them another one, what calls leave on its stack is
/// wiped away; after as many more, it is not.
const CHANGES: usize = 20;

/// How far back threads are looked at under a strategy that samples, in states and in events: there
/// executions may be long, and a loop that is not recognised just goes on.
const NEAR: usize = 128;

/// Rounds after which a place becomes suspect there.
const ROUNDS: usize = 8;

/// Rounds after which a loop around a lock becomes suspect, for the first time and again.
const LOCKS: usize = 16;
const MORE_LOCKS: usize = 128;

/// Rounds after which a thread is watched there, if the place is suspect.
const FEW_ROUNDS: usize = 3;

/// How far back they are looked at in other executions; these may be long as well when they are replayed.
const FAR: usize = 4096;

/// After so many states that came back to no avail a place is not asked about others: where memory is of the system,
/// the addresses in a state are others in each run.
const REFUTED: usize = 64;

/// The bit of a place; places are addresses of three words.
#[inline(always)]
fn mark(site: Site) -> u64 {
    1 << (site.0 >> 3 & 63)
}

/// What is known about the loops of a program.
#[derive(Debug, Default)]
pub struct Spins {
    suspects: Vec<Site>,
    /// A bit for each suspect, and maybe for other places: whoever has none is no suspect.
    marks: u64,
    /// What is known of each suspect.
    records: Vec<Record>,
    /// Places that were suspects, until they were found to be dull.
    dull: Vec<Site>,
    /// Whether a thread gives up waiting at one of them.
    gives_up: bool,
    /// States that came back although the thread had changed something.
    refuted: Vec<(Site, u64)>,
    /// The states of each thread in this run. They are compared within a run only: parts of a stack
    /// that nobody has written yet hold what an earlier run left there.
    visits: Vec<Visits>,
    /// For each thread, what [`Spins::watch_from`] says; found when needed.
    watch_from: Vec<u32>,
    /// The iteration that is being repeated.
    pub ghost: Option<Ghost>,
    /// Runs so far.
    runs: u64,
    /// Whether only what was shortly before is looked at.
    near: bool,
    /// Whether what calls leave on the stacks of threads is wiped away: frames have bytes that nobody writes to, and
    /// a state holds what is there.
    pub wipes: bool,
    /// The place for which that is tried, until a state has come back there.
    wipes_for: Option<Site>,
    /// Whether the run follows another one: what a loop came to there is to be seen at once.
    follows: bool,
    /// The threads whose states are looked at in this run, if it is a sampled one: there they are where a
    /// thread has been at a suspect place for a few times in a row.
    pub watched: ThreadSet,
}

impl Spins {
    /// Forgets what belongs to the last run; `samples`: so does the strategy; `follows`: it repeats another run.
    /// Whether loops are recognised elsewhere from now on, so that the exploration must start anew.
    pub fn begin(&mut self, samples: bool, follows: bool) -> bool {
        (self.near, self.follows) = (samples, follows);
        self.runs += 1;
        self.ghost = None;
        self.visits.iter_mut().for_each(Visits::clear);
        self.watch_from.clear();
        self.watched.clear();
        let is_old = self.runs == YOUNG;
        let drops = is_old || !follows && self.records.iter().any(Record::is_dull_lock);
        drops && self.drop_dull(is_old)
    }

    /// From where on the states of a thread are looked at: the first suspect place after which nothing
    /// that is recorded changes anything, or the end of what is recorded.
    #[inline(always)]
    pub fn watch_from(&mut self, graph: &Graph, thread: ThreadId) -> u32 {
        match self.watch_from.get(thread.index()) {
            Some(&from) if from != UNKNOWN => from,
            _ => self.find_watch_from(graph, thread),
        }
    }

    #[inline(never)]
    fn find_watch_from(&mut self, graph: &Graph, thread: ThreadId) -> u32 {
        if thread.index() >= self.watch_from.len() {
            self.watch_from.resize(thread.index() + 1, UNKNOWN);
        }
        let base = graph.base(thread);
        let recorded = graph.thread(thread).iter().enumerate().rev();
        let mut from = (base + recorded.len()) as u32;
        for (index, event) in recorded.map(|(index, event)| (base + index, event)) {
            let reads = event.kind == Kind::Read;
            let mere = reads && !event.is_update();
            if !mere && !may_be_idle(graph, EventId::new(thread, index), self.gives_up) {
                break;
            }
            if reads && self.is_suspect(event.site) {
                from = index as u32;
            }
        }
        self.watch_from[thread.index()] = from;
        from
    }

    /// How far back threads are looked at.
    #[inline(always)]
    fn most(&self) -> usize {
        if self.near { NEAR } else { FAR }
    }

    /// The states of a thread in this run.
    #[inline(always)]
    fn visits_of(&mut self, thread: ThreadId) -> &mut Visits {
        if thread.index() >= self.visits.len() {
            self.visits.resize_with(thread.index() + 1, Visits::default);
        }
        &mut self.visits[thread.index()]
    }

    /// Notes the state of a thread before an event that is recorded, and after which it changes nothing.
    #[inline(always)]
    pub fn note(&mut self, thread: ThreadId, state: &State<'_>) {
        self.visits_of(thread).note(state);
    }

    /// Notes the state of a thread. Returns the first event of the iteration that has led it back
    /// there, if one has, and if the thread may wait there.
    pub fn visit(&mut self, execution: &Execution, thread: ThreadId, state: &State<'_>) -> Option<u32> {
        let (gives_up, most) = (self.gives_up, self.most());
        let graph = execution.graph();
        let arrival = self.visits_of(thread).add(graph, thread, state, gives_up, most);
        if arrival == Arrival::First {
            return None;
        }
        let suspect = self.suspects.iter().position(|&site| site == state.site)?;
        let Arrival::Back(first) = arrival else {
            if !self.records[suspect].came_back && self.visits[thread.index()].has(state.site, CHANGES) {
                self.try_wiping(suspect);
            }
            if self.runs < YOUNG {
                self.records[suspect].passes &= self.passed(graph, thread, state.site);
            }
            if self.runs < YOUNG || self.records[suspect].rmw == Rmw::Lock {
                self.records[suspect].changes += 1;
            }
            return None;
        };
        self.records[suspect].came_back = true;
        self.wipes_for = self.wipes_for.filter(|&site| site != state.site);
        let waits = !execution.goes_on(thread) && !self.is_refuted(state);
        waits.then_some(first)
    }

    /// Wipes from now on, since states at a suspect do not come back; or no more, if that was for the same place.
    fn try_wiping(&mut self, suspect: usize) {
        let site = self.suspects[suspect];
        if self.wipes_for == Some(site) {
            (self.wipes, self.wipes_for) = (false, None);
        } else if !self.wipes && !self.records[suspect].wiped {
            self.records[suspect].wiped = true;
            (self.wipes, self.wipes_for) = (true, Some(site));
        }
    }

    /// Whether something changes in the loop although this state came back there, for all that is known.
    fn is_refuted(&self, state: &State<'_>) -> bool {
        let here = || self.refuted.iter().filter(|(site, _)| *site == state.site);
        let known = |hash| here().any(|refuted| refuted.1 == hash);
        !self.refuted.is_empty() && (known(state.hash()) || here().count() >= REFUTED)
    }

    /// The suspects that the thread has been at since it was last at this place, a bit each.
    fn passed(&self, graph: &Graph, thread: ThreadId, site: Site) -> u64 {
        let since = graph.thread(thread).iter().rev().take_while(|event| event.site != site);
        since.filter(|event| event.kind == Kind::Read).fold(0, |passed, event| {
            let suspect = self.suspects.iter().position(|&suspect| suspect == event.site);
            passed | suspect.map_or(0, |suspect| 1u64.checked_shl(suspect as u32).unwrap_or(0))
        })
    }

    /// Drops the suspects that are dull, each as long as its loops have another one; or only those where a lock is taken.
    fn drop_dull(&mut self, all: bool) -> bool {
        let mut left = u64::MAX;
        for (suspect, record) in self.records.iter().enumerate().take(64) {
            let others = record.passes & left & !(1 << suspect);
            if record.is_dull_lock() || all && record.is_dull() && others != 0 {
                left &= !(1 << suspect);
            }
        }
        let stays = |suspect: usize| suspect >= 64 || left >> suspect & 1 == 1;
        let dropped = self.suspects.iter().enumerate().filter(|(suspect, _)| !stays(*suspect));
        self.dull.extend(dropped.map(|(_, &site)| site));
        let mut suspects = 0..;
        self.suspects.retain(|_| suspects.next().is_some_and(stays));
        let mut suspects = 0..;
        self.records.retain(|_| suspects.next().is_some_and(stays));
        self.marks = self.suspects.iter().fold(0, |marks, &site| marks | mark(site));
        self.gives_up = self.records.iter().any(|record| undoes(record.rmw));
        if self.wipes_for.is_some_and(|site| !self.suspects.contains(&site)) {
            (self.wipes, self.wipes_for) = (false, None);
        }
        left != u64::MAX
    }

    /// Whether any place is suspect.
    pub fn any_suspects(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// Whether the place is suspect.
    #[inline(always)]
    pub fn is_suspect(&self, site: Site) -> bool {
        self.marks & mark(site) != 0 && self.suspects.contains(&site)
    }

    /// Notes that a state came back although something had changed.
    pub fn refute(&mut self, site: Site, state: u64) {
        self.refuted.push((site, state));
    }

    /// Whether a thread with so many events is looked at: always, but in sampled executions at one of eight
    /// events only, which is every event of a loop now and then, however many there are in a round.
    #[inline(always)]
    pub fn looks_at(&self, position: u32) -> bool {
        !self.near || (position >= ROUNDS as u32 && position.wrapping_mul(0x9e37_79b9) < 1 << 29)
    }

    /// Whether [`Spins::may_wait`] is to be asked about a thread that has had so many events, in a sampled
    /// execution.
    #[inline(always)]
    pub fn may_recur(&self, site: Site, position: u32) -> bool {
        position >= FEW_ROUNDS as u32 && (self.marks & mark(site) != 0 || self.looks_at(position))
    }

    /// Whether the thread of a sampled execution goes round in a loop that may only wait.
    pub fn may_wait(&mut self, graph: &Graph, thread: ThreadId, op: &Op) -> bool {
        if self.is_suspect(op.site) {
            return rounds(graph, thread, op, FEW_ROUNDS, self.most()) == FEW_ROUNDS;
        }
        self.looks_at(graph.thread_len(thread) as u32) && self.recurs(graph, thread, op)
    }

    /// Whether the thread is watched no more: it has written, and waits for nothing in between.
    pub fn forgets(&mut self, thread: ThreadId) -> bool {
        let forgets = !self.gives_up && self.watched.contains(thread);
        if forgets {
            self.watched.remove(thread);
        }
        forgets
    }

    /// Whether the thread has been here before, at the same location, without having changed
    /// anything since. Then the place becomes suspect.
    pub fn recurs(&mut self, graph: &Graph, thread: ThreadId, op: &Op) -> bool {
        // A dull place needs a look now and then only: it is suspected again if its loop has lost all others.
        let dull = !self.dull.is_empty() && self.dull.contains(&op.site);
        if dull && !graph.thread_len(thread).is_multiple_of(8) {
            return false;
        }
        // To look at states is slow, and a loop of a sampled execution, or around a lock, may go on for a while.
        let enough = match op.rmw {
            _ if self.follows => 1,
            Rmw::Lock if dull => MORE_LOCKS,
            Rmw::Lock => LOCKS,
            _ if self.near => ROUNDS,
            _ => 1,
        };
        // There are a lock and an unlock in each round.
        if op.rmw == Rmw::Lock && graph.thread_len(thread) < 2 * enough {
            return false;
        }
        if rounds(graph, thread, op, enough, self.most()) < enough
            || (dull && self.passed(graph, thread, op.site) != 0)
        {
            return false;
        }
        self.suspects.push(op.site);
        self.marks |= mark(op.site);
        self.records.push(Record {
            changes: 0,
            passes: u64::MAX,
            came_back: false,
            again: dull,
            wiped: false,
            rmw: op.rmw,
        });
        self.gives_up |= undoes(op.rmw);
        true
    }
}

/// Whether the event changed nothing that others can see.
#[inline(always)]
fn is_idle(graph: &Graph, id: EventId) -> bool {
    let event = graph.event(id);
    match event.kind {
        Kind::Read => !event.is_update() || event.value == graph.read_value(id),
        Kind::Fence | Kind::Choice => true,
        Kind::Write | Kind::Spawn | Kind::Join | Kind::Finish => false,
    }
}

/// Whether the event is one of those that a later one undoes: a lock that is taken or given back, a bit
/// that is set or cleared.
fn is_undone(graph: &Graph, id: EventId) -> bool {
    let event = graph.event(id);
    match event.kind {
        Kind::Read => matches!(event.rmw, Rmw::Lock | Rmw::Or | Rmw::GiveUp),
        Kind::Write => event.rmw == Rmw::Lock,
        _ => false,
    }
}

/// Whether the event changed nothing, or is one of those that a later one undoes, if such are looked at.
fn may_be_idle(graph: &Graph, id: EventId, gives_up: bool) -> bool {
    is_idle(graph, id) || gives_up && is_undone(graph, id)
}

/// Whether that is so of all these events of a thread.
#[inline(always)]
fn are_idle(graph: &Graph, thread: ThreadId, mut events: Range<u32>, gives_up: bool) -> bool {
    if gives_up {
        return events.all(|index| may_be_idle(graph, EventId { thread, index }, true));
    }
    events.all(|index| is_idle(graph, EventId { thread, index }))
}

/// Whether these events of a thread leave every location as it was, and nobody has written to it in
/// between. In a round that does not end where the thread gives up, or takes a lock, nothing may be written at all:
/// there it may hold a lock that others need.
fn changes_nothing(graph: &Graph, thread: ThreadId, events: Range<u32>, gives_up: bool) -> bool {
    // Locations that are written, with the place of the last write and the value before the first.
    let mut changed: Vec<(Addr, usize, Value)> = Vec::new();
    for index in events {
        let id = EventId { thread, index };
        if is_idle(graph, id) {
            continue;
        }
        let event = graph.event(id);
        if !gives_up || !is_undone(graph, id) {
            return false;
        }
        let place = graph.position(event.addr, id);
        match changed.iter_mut().find(|(addr, ..)| *addr == event.addr) {
            Some((_, last, _)) if *last + 1 != place => return false,
            Some((_, last, _)) => *last = place,
            None => {
                let before = graph.value(event.addr, graph.write_at(event.addr, place - 1));
                changed.push((event.addr, place, before));
            }
        }
    }
    changed.iter().all(|&(addr, last, before)| graph.value(addr, graph.write_at(addr, last)) == before)
}

/// How often in a row the thread has been at this place and read the same write of the same
/// location there, without changing anything in between; counted up to `enough`, over at most `most`
/// events.
#[inline]
fn rounds(graph: &Graph, thread: ThreadId, op: &Op, enough: usize, most: usize) -> usize {
    if undoes(op.rmw) {
        return rounds_of(graph, thread, op, enough, most, |id| may_be_idle(graph, id, true));
    }
    rounds_of(graph, thread, op, enough, most, |id| is_idle(graph, id))
}

#[inline(always)]
fn rounds_of(
    graph: &Graph,
    thread: ThreadId,
    op: &Op,
    enough: usize,
    most: usize,
    idle: impl Fn(EventId) -> bool,
) -> usize {
    let (events, base) = (graph.thread(thread), graph.base(thread));
    let mut last: Option<EventId> = None;
    let mut rounds = 0;
    for (index, event) in events.iter().enumerate().rev().take(most) {
        let mere_read = event.kind == Kind::Read && !event.is_update();
        if rounds == enough || (!mere_read && !idle(EventId::new(thread, base + index))) {
            break;
        }
        if event.site == op.site && event.addr == op.addr && event.kind == op.kind {
            // Who takes a lock again sees that it was given back in the round before.
            let own =
                |rf: EventId| op.rmw == Rmw::Lock && rf.thread == thread && rf.index > (base + index) as u32;
            if last.is_some_and(|rf| rf != event.rf && !own(rf)) {
                break;
            }
            last = Some(event.rf);
            rounds += 1;
        }
    }
    rounds
}

/// Cuts a loop that has read the same values for so many rounds, and yet comes back in another state each time: the
/// thread is blocked before `op`. Whether it was.
pub fn cut(execution: &mut Execution, thread: ThreadId, op: &Op, most: usize) -> bool {
    let graph = execution.graph();
    let cuts = !execution.samples()
        && op.rmw != Rmw::Lock
        && graph.thread_len(thread) >= most
        && rounds(graph, thread, op, most, usize::MAX) >= most
        && !execution.goes_on(thread);
    if cuts {
        let point = Point { thread, index: execution.position(thread), site: op.site };
        execution.block(thread, Waiter { point, wait: Wait::Bound });
    }
    cuts
}

/// A hash of some bytes: fast, not cryptographic, the same in every process.
pub fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mix = |h: u64, word: u64| (h ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29);
    let word = |chunk: &[u8]| u64::from_ne_bytes(chunk.try_into().unwrap_or_default());
    // Four lanes: one multiplication need not wait for the one before.
    let mut lanes = [seed, !seed, seed.rotate_left(17), seed ^ bytes.len() as u64];
    let blocks = bytes.chunks_exact(32);
    let rest = blocks.remainder();
    for block in blocks {
        for (lane, chunk) in lanes.iter_mut().zip(block.chunks_exact(8)) {
            *lane = mix(*lane, word(chunk));
        }
    }
    let mut tail = [0; 32];
    tail[..rest.len()].copy_from_slice(rest);
    for (lane, chunk) in lanes.iter_mut().zip(tail.chunks_exact(8)) {
        *lane = mix(*lane, word(chunk));
    }
    lanes.into_iter().fold(0, mix)
}
