//! Threads that come to suspect places, and what is done about it.

mod ahead;
mod record;

use unpick_core::event::{Event, EventId};
use unpick_core::execution::{Execution, Outcome};
use unpick_core::graph::Graph;
use unpick_core::mutant::{self, Mutant};
use unpick_core::op::{Kind, Op, Site, ThreadId};
use unpick_core::round::{self, Spare};
use unpick_core::thread_set::ThreadSet;
use unpick_core::violation::Point;
use unpick_emulator::Dead;

use crate::frame::Frame;
use crate::places::{self, Places};
use crate::rounds::{Rounds, Trial, Verdict};

pub use ahead::Ahead;
use ahead::{AHEAD, Seen};
use record::{Record, Visit, Visits};

/// Arrivals of a thread that are remembered.
const MOST: usize = 256;

/// Arrivals that are looked at for rounds that end at one.
const NEAR: usize = 8;

/// Rounds that end at one arrival, of which one is tried.
const CANDIDATES: usize = 4;

/// Classes of places; a power of two.
const MET: usize = 32;

/// Ways to be called by which a place is known apart.
const MOST_CALLERS: usize = 8;

/// A thread that comes to a suspect place.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The thread.
    pub thread: ThreadId,
    /// What it is about to do.
    pub op: &'a Op,
    /// Its registers.
    pub frame: Frame,
    /// What else belongs to its state.
    pub hidden: u64,
}

/// What an execution tells about the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// It goes on.
    Fine,
    /// It must start over.
    StartOver,
    /// It cannot find all executions: others notice too many rounds of a thread that is in a loop here.
    TooMany(Site),
}

/// What to do about an arrival.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "each is looked at where it is made, and not kept")]
pub enum Step {
    /// The thread takes its op.
    Go {
        /// Whether what it has done since it was last here leaves nothing behind.
        idle: bool,
    },
    /// The thread waits until something changes.
    Wait,
    /// The round is to be tried; then the thread takes its op, unless the run was ended.
    Try(Trial),
}

/// What is known of the loops of a program.
#[derive(Debug, Default)]
pub struct Loops {
    /// Suspect places.
    pub places: Places,
    /// Idle rounds.
    pub rounds: Rounds,
    visits: Vec<Visits>,
    records: Vec<Record>,
    /// Threads that have visits.
    open: ThreadSet,
    /// What footprints held when each thread was left.
    left: Vec<Vec<u8>>,
    /// For each thread, what [`Loops::watch_from`] says; found when needed.
    watch_from: Vec<Option<u32>>,
    /// Trials that have led to the same run being started once more, by thread and event: once is enough.
    again: Vec<(ThreadId, u32)>,
    /// Trials that came to nothing since then.
    failed: Vec<(ThreadId, u32)>,
    /// Whether the run is being started once more.
    repeats: bool,
    /// What was seen ahead in this run.
    seen: Vec<Seen>,
    /// Whether an idle round was ever found.
    found: bool,
    /// A trial that is under way.
    pub trial: Option<Trial>,
    /// How many rounds that write a thread may have behind it which nobody has noticed.
    spare: Spare,
    /// Where calls return to, with the stack there, and which registers hold nothing then.
    dead: Vec<(u64, usize, Dead)>,
    /// Which of them was met last, for each of some classes of places.
    met: [u32; MET],
}

impl Loops {
    /// Begins anew, with what is known of the code.
    pub fn forget(&mut self) {
        let (dead, met) = (std::mem::take(&mut self.dead), self.met);
        *self = Loops { dead, met, ..Loops::default() };
    }

    /// Forgets what belongs to the last run. `os_thread` tells OS threads apart; `stable`: addresses are the same in each run.
    #[inline(always)]
    pub fn begin(&mut self, os_thread: usize, stable: bool) {
        // Without a suspect place there is nothing to forget.
        if self.places.any() {
            self.begin_again(os_thread, stable);
        } else {
            self.rounds.begin_on(os_thread);
        }
    }

    #[inline(never)]
    fn begin_again(&mut self, os_thread: usize, stable: bool) {
        if !std::mem::take(&mut self.repeats) {
            self.again.clear();
            self.failed.clear();
        }
        self.trial = None;
        self.seen.clear();
        self.visits.iter_mut().for_each(Visits::clear);
        self.records.iter_mut().for_each(|record| record.arrivals.clear());
        self.watch_from.clear();
        self.open.clear();
        self.rounds.begin(os_thread, stable);
    }

    /// Makes the place suspect if the thread goes round there; whether it does. The run goes on, since the program may
    /// have locked or changed something that is not put back; where an execution is followed that is known, it is started
    /// once more.
    #[inline]
    pub fn suspect(&mut self, execution: &mut Execution, thread: ThreadId, op: &Op) -> bool {
        let known = self.places.is_suspect(op.site);
        let suspect = self.places.suspect(execution.graph(), thread, op, execution.samples());
        if suspect && !known {
            self.record(op.site).put_off = !execution.samples();
            self.watch_from.clear();
            if execution.strategy().follows() {
                self.repeats = true;
                execution.request_rerun();
            }
        }
        suspect
    }

    /// What is known of the trials at a place.
    fn record(&mut self, site: Site) -> &mut Record {
        Record::of(&mut self.records, site)
    }

    /// From where on a thread is looked at: the first suspect place after which nothing that is recorded is for others to
    /// act on, or was [noticed](round::is_noticed); or the end of what is recorded; or later, if no trial is due before.
    /// `most`: loops are to be cut after so many rounds.
    #[inline(always)]
    pub fn watch_from(&mut self, execution: &Execution, thread: ThreadId, most: usize) -> u32 {
        match self.watch_from.get(thread.index()) {
            Some(&Some(from)) => from,
            _ => self.find_watch_from(execution, thread, most),
        }
    }

    #[inline(never)]
    fn find_watch_from(&mut self, execution: &Execution, thread: ThreadId, most: usize) -> u32 {
        let graph = execution.graph();
        if thread.index() >= self.watch_from.len() {
            self.watch_from.resize(thread.index() + 1, None);
        }
        let base = graph.base(thread) as u32;
        let mut from = base + graph.thread(thread).len() as u32;
        if let Some(rounds) = self.rounds_in_vain(graph, thread).filter(|_| !execution.strategy().follows()) {
            from += rounds.min(most.saturating_sub(graph.thread_len(thread))) as u32;
            self.watch_from[thread.index()] = Some(from);
            return from;
        }
        for (event, index) in graph.thread(thread).iter().zip(base..from).rev() {
            if !round::may_be_dropped(event) || round::is_noticed(graph, EventId { thread, index }) {
                break;
            }
            if event.kind == Kind::Read && self.places.is_suspect(event.site) {
                from = index;
            }
        }
        self.watch_from[thread.index()] = Some(from);
        from
    }

    /// How many more times the thread must come to suspect places before anything is to be found out: no idle round is known
    /// at any of them, and the next trial is due only then. `None`: something may be found out with what is recorded.
    fn rounds_in_vain(&self, graph: &Graph, thread: ThreadId) -> Option<usize> {
        let period =
            self.records.iter().map(|record| if record.fails() { record.period() } else { 0 }).min()?;
        let arrives = |event: &&Event| event.kind == Kind::Read && self.places.is_suspect(event.site);
        let arrivals = graph.thread(thread).iter().filter(arrives).count();
        (period as usize).checked_sub(arrivals + CANDIDATES)
    }

    /// Notes an arrival before an event that is recorded, if no known round begins with what is recorded from there on:
    /// then it is enough to know where the thread was. Whether it did.
    ///
    /// # Safety
    ///
    /// As for [`Frame::read`].
    #[inline]
    pub unsafe fn pass(&mut self, execution: &Execution, thread: ThreadId, op: &Op, address: usize) -> bool {
        let (graph, at) = (execution.graph(), execution.position(thread));
        let is_past = at < graph.past_of(thread);
        if is_past || !execution.has_stable_addresses() || execution.strategy().follows() {
            return false;
        }
        let visits = self.visits_of(graph, thread);
        if visits.last().is_some_and(|last| last.at >= at) {
            return true;
        }
        if self.rounds.may_begin(graph, EventId { thread, index: at }) {
            return false;
        }
        // SAFETY: the caller's promise.
        let frame = unsafe { Frame::read(address) };
        let visit = self.visits[thread.index()].add();
        (visit.site, visit.at, visit.frame, visit.hidden, visit.same) = (op.site, at, frame, None, None);
        true
    }

    /// The arrivals of a thread; those that the graph may have let go of are forgotten.
    #[inline]
    fn visits_of(&mut self, graph: &Graph, thread: ThreadId) -> &mut Visits {
        if thread.index() >= self.visits.len() {
            self.visits.resize_with(thread.index() + 1, Visits::default);
            self.left.resize_with(thread.index() + 1, Vec::new);
        }
        let visits = &mut self.visits[thread.index()];
        if visits.len >= MOST || visits.first().is_some_and(|first| first.at < graph.past_of(thread)) {
            visits.clear();
        }
        visits
    }

    /// Notes an arrival before an event that is recorded. Where addresses differ from run to run nothing is known of it
    /// from earlier runs: then the round that has led there may have to be tried.
    pub fn note(&mut self, execution: &Execution, arrival: &Arrival<'_>) -> Option<Trial> {
        let at = execution.position(arrival.thread);
        let known = self.visits.get(arrival.thread.index()).and_then(|visits| visits.last());
        if known.is_some_and(|last| last.at >= at) {
            return None;
        }
        let same = self.add(execution.graph(), arrival, at);
        if execution.has_stable_addresses() || same.is_some() {
            return None;
        }
        self.candidate(execution, arrival).1
    }

    /// Notes an arrival. The last one before at which the thread was in the same state.
    fn add(&mut self, graph: &Graph, arrival: &Arrival<'_>, at: u32) -> Option<usize> {
        let Arrival { thread, op, frame, hidden } = *arrival;
        self.visits_of(graph, thread);
        let visits = &self.visits[thread.index()];
        let settled = self.rounds.settled_if_any_allocates(thread, frame);
        let is_same = |visit: &Visit| {
            !visit.rounds.is_empty()
                && (visit.site, visit.hidden) == (op.site, Some(hidden))
                && visit.rounds.iter().any(|&number| {
                    self.rounds.is_still(number, visit.frame == frame, &settled)
                        && self.rounds.is_answered(number, graph, visit.at, at)
                })
        };
        let same = visits[visits.open..].iter().rposition(is_same).map(|number| visits.open + number);
        let visits = &mut self.visits[thread.index()];
        let visit = visits.add();
        (visit.site, visit.at, visit.frame, visit.hidden) = (op.site, at, frame, Some(hidden));
        visit.same = same;
        self.rounds.find(arrival, &settled, &mut visit.rounds);
        // What others do to footprints is followed for the last arrivals only.
        visits.open = visits.open.max(visits.len.saturating_sub(NEAR));
        self.open.insert(thread);
        same
    }

    /// A thread comes to a suspect place, with an op that is not recorded.
    pub fn arrive(&mut self, execution: &mut Execution, arrival: &Arrival<'_>) -> Step {
        let Arrival { thread, op, .. } = *arrival;
        let at = execution.position(thread);
        let ends = execution.strategy().follows() && !execution.goes_on(thread);
        let last = self.visits.get(thread.index()).and_then(|visits| visits.last());
        // A thread that was stopped here, or has just been tried.
        let back = last.is_some_and(|last| last.at >= at);
        let mut same = if back { None } else { self.add(execution.graph(), arrival, at) };
        let mut earlier = Vec::new();
        while let Some(visit) = same.map(|number| &self.visits[thread.index()][number]) {
            earlier.push(visit.at);
            same = visit.same;
        }
        if earlier.is_empty() && ends {
            earlier = self.repeated(execution.graph(), arrival, at);
        }
        if !earlier.is_empty() {
            let point = Point { thread, index: at, site: op.site };
            let waits = execution.spin_since(point, Some(op), &earlier);
            return if waits { Step::Wait } else { Step::Go { idle: true } };
        }
        if back {
            return Step::Go { idle: true };
        }
        match self.candidate(execution, arrival) {
            (_, Some(trial)) => Step::Try(trial),
            (idle, None) => Step::Go { idle },
        }
    }

    /// Where the thread was before rounds that would lead from here to here, the last first. The rounds themselves may have
    /// changed something: that is enough only where the execution is known to end here.
    fn repeated(&self, graph: &Graph, arrival: &Arrival<'_>, at: u32) -> Vec<u32> {
        let mut repeated = Vec::new();
        let Some((here, visits)) = self.visits[arrival.thread.index()].split_last() else { return repeated };
        let mut end = at;
        for visit in visits.iter().rev() {
            let frame = visit.frame.without(here.frame.dead);
            let leads_here = (visit.site, visit.hidden) == (here.site, here.hidden)
                && self.rounds.are_alike(arrival.thread, &frame, &here.frame)
                && here.rounds.iter().any(|&number| {
                    (frame == here.frame || self.rounds.allocates(number))
                        && self.rounds.is_answered(number, graph, visit.at, end)
                });
            if leads_here {
                repeated.push(visit.at);
                end = visit.at;
            }
        }
        repeated
    }

    /// Whether what the thread has done since an earlier arrival leaves nothing in the graph, and a round that is to be
    /// tried.
    fn candidate(&mut self, execution: &Execution, arrival: &Arrival<'_>) -> (bool, Option<Trial>) {
        let Arrival { thread, op, frame, hidden } = *arrival;
        let (graph, at) = (execution.graph(), execution.position(thread));
        let (mut candidates, mut found, mut idle) = ([0; CANDIDATES], 0, false);
        let follows = execution.strategy().follows();
        let ends = follows && !execution.goes_on(thread);
        let is_here =
            |visit: &&Visit| visit.site == op.site && visit.hidden.is_none_or(|other| other == hidden);
        let Some((here, visits)) = self.visits[thread.index()].split_last() else { return (idle, None) };
        let visits = visits.iter().rev().filter(is_here);
        let is_alike = |visit: &Visit| {
            visit.frame.is_near(&frame)
                && self.rounds.are_alike(thread, &visit.frame.without(frame.dead), &frame)
        };
        if !execution.samples() {
            let is_alike = visits.clone().take(NEAR).any(is_alike);
            let often = visits.clone().take(CANDIDATES - 1).count() == CANDIDATES - 1;
            if is_alike || often && !follows {
                let record = Record::of(&mut self.records, op.site);
                record.unlike = if is_alike { 0 } else { record.unlike + 1 };
                record.put_off |= record.fails();
            }
            if !is_alike {
                return (idle, None);
            }
        }
        // A round may have come by its place several times. Nothing must be left behind from one time to the next.
        let mut end = at;
        for visit in visits.take(NEAR) {
            let is_like = places::is_like(graph.event(EventId { thread, index: visit.at }), op);
            if !is_like || visit.frame.place() != frame.place() {
                continue;
            }
            // A thread may wait although its last round matters, since an earlier one does not. If it is known to, the last one is
            // tried.
            let round = visit.at..end;
            let is_dropped = round::leaves_nothing(graph, thread, round.clone());
            if !(is_dropped || ends && round::may_all_be_dropped(graph, thread, round)) {
                break;
            }
            (idle, end) = (true, visit.at);
            // What the same answers lead to from here may be known already.
            let known = |&number: &u32| self.rounds.is_answered(number, graph, visit.at, at);
            if is_alike(visit) && found < CANDIDATES && !here.rounds.iter().any(known) {
                candidates[found] = visit.at;
                found += 1;
            }
        }
        if found == 0 || execution.goes_on(thread) || !(self.is_due(thread, op.site, &frame) || follows) {
            return (idle, None);
        }
        // Rounds may be made of several others; if the last one is not idle, the next longer one may be.
        let tried = if follows {
            self.failed.iter().filter(|failed| **failed == (thread, at)).count()
        } else {
            self.record(op.site).failures as usize % found
        };
        let from = candidates[..found].get(tried);
        (idle, from.map(|&from| Trial::new(arrival, from, at)))
    }

    /// Whether a trial at this place is due: after some without success there must be more rounds in between.
    fn is_due(&mut self, thread: ThreadId, site: Site, frame: &Frame) -> bool {
        if !self.rounds.has_room(thread, site, frame) || !unpick_emulator::is_supported() {
            return false;
        }
        let record = self.record(site);
        let (arrivals, _) = record.arrivals.get(thread.index()).copied().unwrap_or_default();
        let due = arrivals.is_multiple_of(record.period());
        record.put_off |= !due;
        due
    }

    /// A thread comes to a suspect place. Whether nothing is to be found out there: no idle round is known to begin there, and
    /// no trial is due soon. `most`: the loop is to be cut after so many rounds.
    #[inline]
    pub fn is_pointless(&mut self, execution: &Execution, thread: ThreadId, site: Site, most: usize) -> bool {
        let at = execution.position(thread);
        let record = self.record(site);
        let period = record.period();
        if thread.index() >= record.arrivals.len() {
            record.arrivals.resize(thread.index() + 1, (0, 0));
        }
        if record.arrivals[thread.index()].0 == 0 {
            // The thread may have come here before it was watched.
            let events = execution.graph().thread(thread);
            let before = (at as usize).saturating_sub(execution.graph().base(thread)).min(events.len());
            let before = events[..before].iter().filter(|event| event.site == site).count();
            record.arrivals[thread.index()] = (before as u32, at);
            record.arrivals[thread.index()].0 += 1;
        }
        let (arrivals, last) = &mut record.arrivals[thread.index()];
        if *last < at {
            (*arrivals, *last) = (*arrivals + 1, at);
        }
        let until_due = (arrivals.next_multiple_of(period) - *arrivals) as usize;
        let pointless = !record.succeeded
            && until_due >= CANDIDATES
            && !execution.samples()
            && !execution.strategy().follows()
            && execution.graph().thread_len(thread) < most;
        record.put_off |= pointless;
        pointless
    }

    /// Takes note of what came of a trial. Whether the run is to be started once more, now that the round is known
    /// (`Some`), and whether the whole search is (`Some(true)`), since the round was seen before and not tried.
    pub fn tried(&mut self, execution: &Execution, trial: &Trial, verdict: &Verdict) -> Option<bool> {
        if let Some(made) = trial.made_ahead(AHEAD) {
            let &Trial { thread, site, to, .. } = trial;
            let record = self.record(site);
            record.followed |= made > 0;
            let ends = trial.seen_ahead(made, verdict, record.followed);
            self.seen.push(Seen { thread, site, until: ends.unwrap_or(to) });
            return None;
        }
        let here = (trial.thread, trial.to);
        let Verdict::Idle(number) = *verdict else {
            let record = self.record(trial.site);
            record.failures += 1;
            record.put_off |= record.fails();
            // Where an execution is followed, the thread is known to go round: the next longer round is tried.
            return execution.strategy().follows().then(|| {
                self.failed.push(here);
                self.repeats = true;
                false
            });
        };
        self.found = true;
        self.record(trial.site).succeeded = true;
        let visits = self.visits.get_mut(trial.thread.index());
        if let Some(last) = visits.and_then(|visits| visits.open().last_mut()) {
            last.rounds.push(number);
        }
        // The thread was left for the trial, and the round is one of those that it comes back to.
        self.leave(execution, trial.thread);
        // Where addresses differ from run to run, the round of this run will not be known in the next.
        if !execution.has_stable_addresses() || self.again.contains(&here) {
            return None;
        }
        self.again.push(here);
        self.repeats = true;
        Some(std::mem::take(&mut self.record(trial.site).put_off))
    }

    /// Looks at how an execution has ended: whether the search must start over, since others notice more rounds of a
    /// thread than was known.
    pub fn review(&mut self, execution: &mut Execution, outcome: &Outcome) -> Review {
        // Before a round is known nothing can be noticed, and then the search starts over, where addresses are the same in
        // each run.
        if !self.places.any() || !self.found && execution.has_stable_addresses() {
            return Review::Fine;
        }
        execution.note_accesses();
        if !matches!(outcome, Outcome::Complete | Outcome::Blocked(_)) {
            return Review::Fine;
        }
        match execution.wanted_spare() {
            None => Review::Fine,
            Some((wanted, site)) if wanted.rounds > round::MOST_SPARE => Review::TooMany(site),
            Some((wanted, _)) => {
                self.spare = wanted;
                Review::StartOver
            }
        }
    }

    /// How many rounds that write a thread may have behind it which nobody has noticed.
    pub fn spare(&self) -> &Spare {
        &self.spare
    }

    /// Whether a thread at this place may be where a known round begins, or has been there before.
    fn may_be_back(&self, thread: ThreadId, site: Site, frame: &Frame) -> bool {
        let visits = self.visits.get(thread.index()).into_iter().flat_map(|visits| visits.iter().rev());
        visits.take(NEAR).any(|visit| visit.frame.is_near(frame)) || self.rounds.any_at(thread, site, frame)
    }

    /// The frame of a thread at a suspect place; registers that hold nothing are left out of one that may be met again.
    /// `returns`: whether a function preserves registers, and returns to where it
    /// was called from.
    ///
    /// # Safety
    ///
    /// As for [`Frame::read`].
    pub unsafe fn frame(
        &mut self,
        thread: ThreadId,
        site: Site,
        address: usize,
        returns: &dyn Fn(usize) -> bool,
    ) -> Frame {
        // SAFETY: the caller's promise.
        let frame = unsafe { Frame::read(address) };
        if !self.may_be_back(thread, site, &frame) {
            return frame;
        }
        if mutant::is(Mutant::NumbersIgnored) {
            return frame.without_numbers();
        }
        let place = frame.place();
        // SAFETY: the words are of the thread's stack, behind its frame.
        let fits = |known: &(u64, usize, Dead)| (known.0, known.1) == place && unsafe { known.2.holds() };
        let class = (place.0 as usize ^ place.1 >> 4) % MET;
        if let Some((.., dead)) = self.dead.get(self.met[class] as usize).filter(|known| fits(known)) {
            return frame.without(dead.registers);
        }
        if let Some(number) = self.dead.iter().position(fits) {
            self.met[class] = number as u32;
            return frame.without(self.dead[number].2.registers);
        }
        let here = |known: &&(u64, usize, Dead)| (known.0, known.1) == place;
        let stack = frame.stack() + size_of::<u64>();
        let enough = self.dead.iter().filter(here).count() >= MOST_CALLERS;
        let dead =
            if enough { Dead::default() } else { unpick_emulator::dead_registers(place.0, stack, returns) };
        let frame = frame.without(dead.registers);
        if !enough {
            self.dead.push((place.0, place.1, dead));
        }
        frame
    }

    /// Whether the thread has come to suspect places in this run: then it matters what others do meanwhile.
    #[inline(always)]
    pub fn is_open(&self, thread: ThreadId) -> bool {
        self.open.contains(thread)
    }

    /// The thread is left, and others run.
    #[inline(never)]
    pub fn leave(&mut self, execution: &Execution, thread: ThreadId) {
        let Loops { visits, left, rounds, .. } = self;
        let (graph, now) = (execution.graph(), execution.position(thread));
        let left = &mut left[thread.index()];
        left.clear();
        for visit in visits[thread.index()].open() {
            // What the thread has done since tells most rounds from the one that it makes.
            visit.rounds.retain(|&number| rounds.begins_with(number, graph, visit.at, now));
            visit.rounds.iter().for_each(|&number| rounds.copy(number, left));
        }
    }

    /// The thread goes on: rounds whose footprint others have changed are not what they were.
    #[inline(never)]
    pub fn enter(&mut self, thread: ThreadId) {
        let Loops { visits, left, rounds, .. } = self;
        let mut left = &left[thread.index()][..];
        for visit in visits[thread.index()].open() {
            visit.rounds.retain(|&number| rounds.is_as_copied(number, &mut left));
        }
    }
}
