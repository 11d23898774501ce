//! Idle rounds: what is known of them, and how one becomes known.

mod trial;

use unpick_core::event::{Event, EventId};
use unpick_core::graph::Graph;
use unpick_core::mutant::{self, Mutant};
use unpick_core::op::{Kind, Site, ThreadId, Value};
use unpick_emulator::Footprint;

use crate::frame::{Frame, Settled};
use crate::index::{Index, fingerprint};
use crate::visits::Arrival;

pub use trial::{Run, Trial, Verdict};

/// Idle rounds that are kept for each place and thread: where there are more, the loop has too many states to know them all,
/// and goes on.
const MOST: usize = 256;

/// Idle rounds that are kept where addresses differ from run to run: there they are of use in their own run only.
const UNSTABLE: usize = 32;

/// Answers by which rounds are found.
const FIRSTS: usize = 3;

/// What is assumed of blocks that rounds allocate and free.
const ASSUMPTION: &str =
    "addresses of blocks that a round of a loop has allocated and freed do not matter afterwards";

/// An op of a round, with the answer that it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answered {
    kind: Kind,
    site: Site,
    operand: Value,
    expected: Value,
    answer: Value,
    spurious: bool,
}

impl Answered {
    fn new(graph: &Graph, id: EventId) -> Answered {
        let event = graph.event(id);
        let answer = answer(graph, id);
        let Event { kind, site, operand, expected, .. } = *event;
        Answered { kind, site, operand, expected, answer, spurious: event.has(Event::SPURIOUS) }
    }

    /// What tells most answers from each other.
    fn words(&self) -> [u64; 3] {
        [self.answer, self.site.0, self.operand]
    }
}

/// What the thread was answered when the event took place.
fn answer(graph: &Graph, id: EventId) -> Value {
    let event = graph.event(id);
    if event.kind == Kind::Read { graph.read_value(id) } else { event.value }
}

/// A round that leaves nothing behind.
#[derive(Debug)]
struct Round {
    start: Start,
    /// The registers with which it begins. If it allocates, without the addresses of blocks that are gone.
    from: Settled,
    /// Whether it allocates blocks, which it frees. Then each round has others, and pointers to them that are left over are
    /// taken to be the same.
    allocates: bool,
    /// Words that point to blocks that are gone, in memory that is there in every run, and what they stand for.
    gone: Vec<(usize, u64)>,
    /// The hidden state, if the round looks at it.
    hidden: Option<u64>,
    answers: Vec<Answered>,
    /// What it touches of memory that is there in every run.
    lasting: Footprint,
    /// What it touches of other memory.
    passing: Footprint,
}

/// Says what a word of a thread stands for if it points to a block that the thread has allocated and freed.
pub type Settle = fn(ThreadId, u64) -> Option<u64>;

/// Where a round begins: a place, a thread, and where its stack ends there.
type Start = (Site, ThreadId, usize);

/// A number that is the same for rounds of a thread that begin with the same answers.
fn fingerprint_of_answers(thread: ThreadId, answers: &[[u64; 3]]) -> u64 {
    fingerprint([thread.0.into()].into_iter().chain(answers.iter().flatten().copied()))
}

/// A number that is the same for rounds that begin at the same place with the same registers.
fn fingerprint_of((site, thread, _): Start, settled: &Settled) -> u64 {
    fingerprint([site.0, thread.0.into()].into_iter().chain(settled.words()))
}

/// The idle rounds that are known.
#[derive(Debug, Default)]
pub struct Rounds {
    known: Vec<Round>,
    /// The rounds, by the registers that they begin with.
    index: Index,
    /// The rounds, by their first answers: so many, or all.
    firsts: Index,
    /// How many rounds begin at each place, in order.
    starts: Vec<(Start, usize)>,
    /// Pages of memory that does not last, which were found to be there in this run.
    mapped: Vec<usize>,
    /// What a word of a thread stands for if it points to a block that is gone.
    settle: Option<Settle>,
    /// Whether a round was found that allocates.
    allocate: bool,
    /// The OS thread whose thread-local storage they may use, as a number.
    os_thread: usize,
}

/// What memory a footprint may be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// It is there in every run, at the same place.
    Lasting,
    /// It is there as long as the program has it.
    Passing,
    /// It is the checker's own, and says nothing about the program.
    Checker,
}

impl Rounds {
    /// Lets rounds be recognised that allocate blocks and free them; `settle`: what a word of a thread stands for if it
    /// points to a block that the thread has allocated and freed.
    pub fn settle_by(&mut self, settle: Settle) {
        self.settle = Some(settle);
    }

    /// What is assumed if rounds were found that allocate.
    pub fn assumption(&self) -> Option<&'static str> {
        self.allocate.then_some(ASSUMPTION)
    }

    /// The same, if any round that is known allocates: otherwise nobody asks.
    pub(crate) fn settled_if_any_allocates(&self, thread: ThreadId, frame: Frame) -> Settled {
        if self.allocate { self.settled(thread, frame) } else { Settled::from(frame) }
    }

    /// Whether two frames of a thread are the same, but for addresses of blocks that are gone.
    pub(crate) fn are_alike(&self, thread: ThreadId, one: &Frame, other: &Frame) -> bool {
        one.is_near(other)
            && one.words().zip(other.words()).all(|(one, other)| {
                let settled = |word| self.settle.and_then(|settle| settle(thread, word));
                one == other || settled(one).is_some_and(|form| settled(other) == Some(form))
            })
    }

    /// Whether a thread that stood where the round begins stands there again. `same`: its frame is the same; `settled`: what it is
    /// without the addresses of blocks that are gone.
    pub(crate) fn is_still(&self, number: u32, same: bool, settled: &Settled) -> bool {
        let round = &self.known[number as usize];
        if round.allocates { round.from == *settled } else { same }
    }

    /// Whether the round allocates.
    pub(crate) fn allocates(&self, number: u32) -> bool {
        self.known[number as usize].allocates
    }

    /// A frame of the thread without the addresses of blocks that are gone.
    pub(crate) fn settled(&self, thread: ThreadId, frame: Frame) -> Settled {
        Settled::new(frame, |word| self.settle.and_then(|settle| settle(thread, word)))
    }

    /// A run begins on an OS thread, and no round is known.
    #[inline(always)]
    pub(crate) fn begin_on(&mut self, os_thread: usize) {
        self.os_thread = os_thread;
    }

    /// A run begins on an OS thread: rounds that may use what another one has for itself are forgotten. Where addresses
    /// differ from run to run, rounds of earlier runs are of little use, and make room for new ones.
    pub(crate) fn begin(&mut self, os_thread: usize, stable: bool) {
        if self.os_thread != os_thread || (!stable && self.known.len() >= UNSTABLE) {
            self.os_thread = os_thread;
            self.known.clear();
            self.index.clear();
            self.firsts.clear();
            self.starts.clear();
        }
        self.mapped.clear();
    }

    /// How many rounds begin there.
    fn count_at(&self, thread: ThreadId, site: Site, frame: &Frame) -> usize {
        let start = (site, thread, frame.stack());
        let place = self.starts.binary_search_by_key(&start, |(start, _)| *start);
        place.map_or(0, |place| self.starts[place].1)
    }

    /// Whether any round begins there.
    pub(crate) fn any_at(&self, thread: ThreadId, site: Site, frame: &Frame) -> bool {
        self.count_at(thread, site, frame) > 0
    }

    /// Whether more rounds can be kept that begin there.
    pub(crate) fn has_room(&self, thread: ThreadId, site: Site, frame: &Frame) -> bool {
        self.count_at(thread, site, frame) < MOST
    }

    /// Adds the rounds that the thread would repeat from where it stands, given the right answers.
    pub(crate) fn find(&mut self, arrival: &Arrival<'_>, settled: &Settled, found: &mut Vec<u32>) {
        let Arrival { thread, op, frame, hidden } = arrival;
        self.find_from((op.site, *thread, frame.stack()), &Settled::from(*frame), false, *hidden, found);
        if self.allocate {
            self.find_from((op.site, *thread, frame.stack()), settled, true, *hidden, found);
        }
    }

    /// The same of those that allocate, or of the others.
    fn find_from(
        &mut self,
        start: Start,
        from: &Settled,
        allocates: bool,
        hidden: u64,
        found: &mut Vec<u32>,
    ) {
        let settle = |word| self.settle.and_then(|settle| settle(start.1, word));
        for number in self.index.find(fingerprint_of(start, from)) {
            let round = &self.known[number as usize];
            // SAFETY: the bytes are there, since they always are, or we have asked; words are aligned.
            let holds = (round.start, &round.from, round.allocates) == (start, from, allocates)
                && round.gone.iter().all(|&(at, form)| settle(unsafe { *(at as *const u64) }) == Some(form))
                && round.hidden.is_none_or(|known| known == hidden)
                && (unsafe { round.lasting.holds() } || mutant::is(Mutant::FootprintIgnored))
                && round.passing.is_mapped(&mut self.mapped)
                && unsafe { round.passing.holds() };
            if holds {
                found.push(number);
            }
        }
    }

    fn add(&mut self, round: Round) {
        let start = round.start;
        match self.starts.binary_search_by_key(&start, |(start, _)| *start) {
            Ok(place) => self.starts[place].1 += 1,
            Err(place) => self.starts.insert(place, (start, 1)),
        }
        self.index.add(fingerprint_of(start, &round.from));
        let firsts: Vec<[u64; 3]> = round.answers.iter().take(FIRSTS).map(Answered::words).collect();
        self.firsts.add(fingerprint_of_answers(start.1, &firsts));
        self.known.push(round);
    }

    /// Whether a known round may begin with the events that are recorded from this one on, or be the first of them.
    #[inline]
    pub(crate) fn may_begin(&self, graph: &Graph, id: EventId) -> bool {
        if self.known.is_empty() {
            return false;
        }
        let EventId { thread, index } = id;
        let end = (graph.base(thread) + graph.thread(thread).len()) as u32;
        if index + FIRSTS as u32 > end {
            return true;
        }
        let mut firsts = [[0; 3]; FIRSTS];
        (0..FIRSTS).any(|len| {
            firsts[len] = Answered::new(graph, EventId { thread, index: index + len as u32 }).words();
            let alike = self.firsts.find(fingerprint_of_answers(thread, &firsts[..=len]));
            alike.into_iter().any(|number| {
                let Round { start, answers, .. } = &self.known[number as usize];
                let to = end.min(index + answers.len() as u32);
                start.1 == thread && self.begins_with(number, graph, index, to)
            })
        })
    }

    /// Whether these events of the thread are the ops of the round, with its answers.
    pub(crate) fn is_answered(&self, number: u32, graph: &Graph, from: u32, to: u32) -> bool {
        self.known[number as usize].answers.len() == (to - from) as usize
            && self.begins_with(number, graph, from, to)
    }

    /// Whether these events of the thread are the first ops of the round, or all, with its answers.
    pub(crate) fn begins_with(&self, number: u32, graph: &Graph, from: u32, to: u32) -> bool {
        let Round { start: (_, thread, _), answers, .. } = &self.known[number as usize];
        // What the graph has let go of is not compared.
        from >= graph.past_of(*thread)
            && answers.len() >= (to - from) as usize
            && answers.iter().zip(from..to).all(|(answered, index)| {
                *answered == Answered::new(graph, EventId { thread: *thread, index })
                    || mutant::is(Mutant::AnswersIgnored)
            })
    }

    /// What the bytes of the round's footprint hold now, after what is there already.
    pub(crate) fn copy(&self, number: u32, bytes: &mut Vec<u8>) {
        self.known[number as usize].pieces().for_each(|piece| bytes.extend_from_slice(piece));
    }

    /// Whether the bytes of the round's footprint hold what was copied, which is taken from the front of `bytes`.
    pub(crate) fn is_as_copied(&self, number: u32, bytes: &mut &[u8]) -> bool {
        self.known[number as usize].pieces().fold(true, |same, piece| {
            let (copied, rest) = bytes.split_at(piece.len());
            *bytes = rest;
            same && copied == piece
        })
    }
}

impl Round {
    /// What the bytes of its footprint hold now, in a run in which it was found to begin.
    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let Round { lasting, passing, gone, .. } = self;
        let words = gone.iter().map(|&(address, _)| (address, size_of::<u64>()));
        let runs = lasting.ranges().chain(passing.ranges()).map(|(address, held)| (address, held.len()));
        words.chain(runs).map(|(address, len)| {
            // SAFETY: words are in memory that is there in every run; the round was found to begin in this run, so the rest
            // is mapped. No thread of the program runs.
            unsafe { std::slice::from_raw_parts(address as *const u8, len) }
        })
    }
}
