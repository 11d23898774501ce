//! Rounds that are run once more in the emulator.

use std::ops::Range;

use unpick_core::event::{Event, EventId};
use unpick_core::execution::Execution;
use unpick_core::graph::Graph;
use unpick_core::mutant::{self, Mutant};
use unpick_core::op::{Kind, Op, Site, ThreadId, Value};
use unpick_emulator::{Enter, Footprint, Machine, Obstacle, R8, R9, R10, R11, RCX, RDI, RDX, RSI};

use super::{Answered, Home, Round, Rounds, answer};
use crate::frame::{Frame, Settled};
use crate::visits::Arrival;

/// Instructions that a round may take.
const BUDGET: usize = 200_000;

/// What memory that is nobody's is filled with when a round is run, and when it is run again.
const FILLINGS: [u8; 2] = [0x5a, 0xa5];

/// Parts of the checker's memory that a round may use.
const ASIDE: usize = 3;

/// What came of a trial.
#[derive(Debug)]
pub enum Verdict {
    /// The round is idle; its number.
    Idle(u32),
    /// The round leaves something behind; an address, if that is in memory.
    Changes(Option<usize>),
    /// It cannot be known.
    Unknown(Obstacle),
}

/// A round that is run once more in the emulator.
///
/// A front-end makes one of what [`Step::Try`](crate::Step::Try) says, sets the machine going, answers the ops that the
/// code asks for by [`Trial::op`], and lets it be [judged](Trial::judge).
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// The thread.
    pub thread: ThreadId,
    /// Where it stands.
    pub site: Site,
    /// Its registers there.
    pub frame: Frame,
    /// What else belongs to its state.
    hidden: u64,
    /// Whether the round looks at that.
    uses_hidden: bool,
    /// First event of the round.
    pub from: u32,
    /// End of the round.
    pub to: u32,
    /// The event whose answer comes next.
    at: u32,
    /// Whether the code has come back to where the round began.
    back: bool,
    /// Whether it has asked for something else than the round did.
    strayed: bool,
    /// The blocks that it has allocated and freed, if any: from where to where.
    temporary: Option<(usize, usize)>,
    /// Memory of the checker that it uses: from where to where.
    aside: [(usize, usize); ASIDE],
    /// What stack that is given back holds.
    filling: u8,
    /// How often the round is made once more, to see where it leads; `None`: it is made once, and judged.
    ahead: Option<u32>,
    /// Where it looks at the clock, and after how many events of the thread, if it has not asked there whether time passes.
    unasked: Option<(Site, u32)>,
    /// Whether it looks at the clock, and whether it lets time pass.
    looks: bool,
    passes: bool,
}

impl Trial {
    /// A trial of the round that the thread has just made.
    pub(crate) fn new(arrival: &Arrival<'_>, from: u32, to: u32) -> Trial {
        let Arrival { thread, op, frame, hidden } = *arrival;
        let (site, at) = (op.site, from);
        let (uses_hidden, back, strayed) = (false, false, false);
        Trial {
            thread,
            site,
            frame,
            hidden,
            uses_hidden,
            from,
            to,
            at,
            back,
            strayed,
            temporary: None,
            aside: [(0, 0); ASIDE],
            filling: 0,
            ahead: None,
            unasked: None,
            looks: false,
            passes: false,
        }
    }

    /// A trial of the same round, made so often with the same answers that it is seen whether the loop ends by itself.
    pub(crate) fn ahead(self, rounds: u32) -> Trial {
        Trial { ahead: Some(rounds), ..self }
    }

    /// If it looked ahead, of so many rounds: how many it has made.
    pub(crate) fn made_ahead(&self, rounds: u32) -> Option<u32> {
        Some(rounds - self.ahead?)
    }

    /// Up to which event the loop goes on, of which so many rounds were made ahead. `None`: further than was looked.
    /// `followed`: its rounds can be followed; if the last one could not, it does something else.
    pub(crate) fn seen_ahead(&self, made: u32, verdict: &Verdict, followed: bool) -> Option<u32> {
        let ends = match verdict {
            Verdict::Unknown(Obstacle::Budget(_)) => false,
            Verdict::Unknown(_) => followed,
            _ => self.strayed,
        };
        ends.then(|| self.to + (made + 1) * (self.to - self.from))
    }

    /// The answer of the op at which the thread stands, with which the round begins.
    pub fn begin(&mut self, graph: &Graph) -> Value {
        let id = EventId { thread: self.thread, index: self.at };
        self.at += 1;
        answer(graph, id)
    }

    /// How many events the thread has had, as its code is to believe.
    pub fn position(&self) -> u32 {
        self.at
    }

    /// Instructions that it may take.
    pub fn budget(&self) -> usize {
        BUDGET
    }

    /// Lets the machine go on after the op at which the thread stands, which has returned `value`.
    pub fn set_out(&self, machine: &mut Machine, value: u64) {
        machine.begin(self.frame.registers(value));
        machine.fill_stack(self.filling);
    }

    /// The code has allocated blocks in this memory, and has freed all of them. What is there is nobody's at the end.
    pub fn allocated(&mut self, memory: Range<usize>) {
        self.temporary = Some((memory.start, memory.end));
    }

    /// The code uses memory of the checker. What is there says nothing about the program, and is put back by whoever
    /// calls.
    pub fn set_aside(&mut self, memory: [Range<usize>; ASIDE]) {
        self.aside = memory.map(|memory| (memory.start, memory.end));
    }

    /// Whether it is only asked where the loop leads, and not whether a round is idle.
    pub fn looks_ahead(&self) -> bool {
        self.ahead.is_some()
    }

    /// The code looks at what belongs to the thread's state and is not in memory.
    pub fn use_hidden(&mut self) {
        self.uses_hidden = true;
    }

    /// The same, and what that was when the round began was not known to belong to it until now.
    pub fn use_hidden_as(&mut self, hidden: u64) {
        (self.hidden, self.uses_hidden) = (hidden, true);
    }

    /// The code looks at the clock, which stood still in the round, or the thread is in another state at its end.
    pub fn look(&mut self, execution: &Execution, site: Site) {
        self.use_hidden();
        self.looks = true;
        let next = self.next_event().map(|id| execution.graph().event(id));
        match next.filter(|event| (event.kind, event.site) == (Kind::Choice, site)) {
            None => self.unasked = Some((site, self.at)),
            Some(&Event { expected: bound, .. }) => {
                if self.op(execution, &Op::choice(bound, site)) != Some(0) {
                    self.stray();
                }
            }
        }
        self.strayed |= self.passes;
    }

    /// The code sleeps, or its wait has given up. If it looks at the clock, it is in another state then.
    pub fn spend_time(&mut self) {
        self.passes = true;
        self.strayed |= self.looks;
    }

    /// Whether time passes in it.
    pub fn spends_time(&self) -> bool {
        self.passes
    }

    /// Where it has looked at the clock without asking whether time passes, and after how many events of the thread.
    pub fn unasked(&self) -> Option<(Site, u32)> {
        self.unasked
    }

    /// The event that answers the next op, if there is one.
    pub fn next_event(&self) -> Option<EventId> {
        let again = self.ahead.is_some_and(|rounds| rounds > 0);
        let index = if self.at == self.to && again { self.from } else { self.at };
        (index < self.to && !self.strayed).then_some(EventId { thread: self.thread, index })
    }

    /// The code does something else than it did in the round.
    pub fn stray(&mut self) {
        self.strayed = true;
    }

    /// Whether the code is back, or has gone astray: nothing that it does from here on counts.
    pub fn is_over(&self) -> bool {
        self.back || self.strayed
    }

    /// Answers an op that the code asks for. `None`: the round is over, one way or another.
    pub fn op(&mut self, execution: &Execution, op: &Op) -> Option<Value> {
        if self.is_over() {
            return None;
        }
        let Some(id) = self.next_event() else {
            self.back = op.site == self.site;
            self.strayed = !self.back;
            return None;
        };
        let graph = execution.graph();
        if !repeats(graph.event(id), op) {
            self.strayed = true;
            return None;
        }
        if id.index < self.at {
            self.ahead = self.ahead.map(|rounds| rounds - 1);
        }
        self.at = id.index + 1;
        Some(answer(graph, id))
    }

    /// Whether the last op that was answered is an exchange that failed without a reason.
    pub fn failed_spuriously(&self, graph: &Graph) -> bool {
        self.at > self.from
            && graph.event(EventId { thread: self.thread, index: self.at - 1 }).has(Event::SPURIOUS)
    }

    /// What to tell the machine when a function has been carried out: it goes on, or is over. Registers that a callee need
    /// not preserve are zero then, as they are when the functions return in earnest: what they hold means nothing, but
    /// code that makes room on its stack may push them.
    pub fn entered(&self, machine: &mut Machine, value: u64) -> Enter {
        for register in [RCX, RDX, RSI, RDI, R8, R9, R10, R11] {
            machine.registers.general[register] = 0;
        }
        if self.back {
            Enter::End
        } else if self.strayed {
            Enter::GiveUp("the round did something else when it was repeated")
        } else {
            Enter::Return(value)
        }
    }

    /// Judges the round, and leaves everything as it is. `run` runs the code of a trial to its end. `dead`: bytes that are
    /// nobody's when the round begins, below the thread's frame. `home`: what memory an address is in.
    ///
    /// # Safety
    ///
    /// Nothing else runs meanwhile.
    pub unsafe fn judge(
        self,
        rounds: &mut Rounds,
        graph: &Graph,
        machine: &mut Machine,
        dead: Range<usize>,
        home: &dyn Fn(usize) -> Home,
        run: &mut Run<'_>,
    ) -> (Trial, Verdict) {
        // SAFETY: the caller's promise.
        let unused = unsafe { Unused::new(&dead) };
        // SAFETY: as above.
        let mut attempt = |filling| unsafe { self.attempt(machine, &dead, &unused, filling, run) };
        let first = attempt(FILLINGS[0]);
        let trial = first.trial;
        if let Err(obstacle) = first.ran {
            let verdict = if trial.strayed { Verdict::Changes(None) } else { Verdict::Unknown(obstacle) };
            return (trial, verdict);
        }
        let allocates = trial.temporary.is_some();
        let settled = rounds.settled(self.thread, self.frame);
        let is_same =
            |frame: Frame| frame == self.frame || allocates && rounds.settled(self.thread, frame) == settled;
        let changes = first.before.differences(&first.after);
        // Registers may hold what came from stack that nobody has written to. Most that differ count something.
        let may_be_same = |frame: &Frame| is_same(*frame) || frame.differs_by(&self.frame, FILLINGS[0]);
        let first_frame = first.frame.filter(|frame| trial.ahead.is_none() && may_be_same(frame));
        let Some((mut changes, mut frame)) = changes.zip(first_frame) else {
            return (trial, Verdict::Changes(None));
        };
        let gone = if allocates { first.gone(rounds, home) } else { Vec::new() };
        let mut footprint = first.before;
        for &(start, _) in &gone {
            let word = start..start + size_of::<u64>();
            changes.retain(|address| !word.contains(address));
            footprint = footprint.without(word);
        }
        if !changes.is_empty() || !is_same(frame) {
            // Bytes that the code has copied from where it has written nothing mean nothing either: gaps in what it copies.
            let second = attempt(FILLINGS[1]);
            if let (Some(other), Ok(())) = (second.frame, second.ran) {
                frame = frame.but_undefined(&other, &self.frame);
            }
            let undefined = first.after.differences(&second.after).filter(|_| second.ran.is_ok());
            let mut undefined = undefined.unwrap_or_default();
            undefined.sort_unstable();
            changes.retain(|address| undefined.binary_search(address).is_err());
            footprint = undefined.into_iter().fold(footprint, |rest, byte| rest.without(byte..byte + 1));
        }
        if !is_same(frame) {
            return (trial, Verdict::Changes(None));
        }
        if let Some(&change) = changes.first().filter(|_| !mutant::is(Mutant::RoundLeavesBytes)) {
            return (trial, Verdict::Changes(Some(change)));
        }
        if footprint.ranges().any(|(address, _)| home(address) == Home::Checker) {
            return (trial, Verdict::Unknown(Obstacle::Host("uses memory of the checker")));
        }
        rounds.allocate |= allocates;
        let (lasting, passing) = footprint.split(|address| home(address) == Home::Lasting);
        let ids = (self.from..self.to).map(|index| EventId { thread: self.thread, index });
        let answers = ids.map(|id| Answered::new(graph, id)).collect();
        let start = (trial.site, trial.thread, trial.frame.stack());
        let from = if allocates { settled } else { Settled::from(trial.frame) };
        let hidden = trial.uses_hidden.then_some(trial.hidden);
        rounds.add(Round { start, from, allocates, gone, hidden, answers, lasting, passing });
        (trial, Verdict::Idle(rounds.known.len() as u32 - 1))
    }

    /// Runs the round once, with memory that is nobody's full of the same byte, and puts everything back.
    ///
    /// # Safety
    ///
    /// Nothing else runs meanwhile.
    unsafe fn attempt(
        self,
        machine: &mut Machine,
        dead: &Range<usize>,
        unused: &Unused,
        filling: u8,
        run: &mut Run<'_>,
    ) -> Attempt {
        // SAFETY: the caller's promise.
        unsafe { unused.fill(filling) };
        let mut trial = Trial { filling, ..self };
        let ran = run(&mut trial, machine);
        let mut before = machine.defined_footprint().without(dead.clone());
        if let Some((start, end)) = trial.temporary {
            before = before.without(start..end);
        }
        let mut all = machine.take_footprint();
        for (start, end) in trial.aside.into_iter().filter(|(start, end)| start < end) {
            before = before.without(start..end);
            all = all.without(start..end);
        }
        // SAFETY: the machine has just run, and nothing else has since.
        let after = unsafe { before.now() };
        // SAFETY: as above.
        unsafe { all.restore() };
        // SAFETY: as above.
        unsafe { unused.restore() };
        let frame = Frame::at_call(&machine.registers, self.frame);
        Attempt { trial, ran, frame, before, after }
    }
}

/// Runs the code of a trial to its end, from the registers with which the round begins.
pub type Run<'a> = dyn FnMut(&mut Trial, &mut Machine) -> Result<(), Obstacle> + 'a;

/// What came of running a round.
struct Attempt {
    trial: Trial,
    ran: Result<(), Obstacle>,
    /// The registers at the end, if that is a call as the one at the beginning.
    frame: Option<Frame>,
    /// What it touches, as it was and as it is after the round.
    before: Footprint,
    after: Footprint,
}

/// Bytes below the frame of a thread that stands at an op: for its code they are nobody's, but the op itself is there.
struct Unused {
    start: usize,
    bytes: Vec<u8>,
}

impl Unused {
    /// How far below the frame code is expected to find something that was left there.
    const REACH: usize = 16 << 10;

    /// # Safety
    ///
    /// The bytes may be read.
    unsafe fn new(dead: &Range<usize>) -> Unused {
        let start = dead.start.max(dead.end.saturating_sub(Unused::REACH));
        // SAFETY: the caller's promise.
        let bytes = unsafe { std::slice::from_raw_parts(start as *const u8, dead.end - start) };
        Unused { start, bytes: bytes.to_vec() }
    }

    /// # Safety
    ///
    /// Nobody uses the bytes until they are restored.
    unsafe fn fill(&self, byte: u8) {
        // SAFETY: the caller's promise.
        unsafe { (self.start as *mut u8).write_bytes(byte, self.bytes.len()) };
    }

    /// # Safety
    ///
    /// Nobody uses the bytes now.
    unsafe fn restore(&self) {
        // SAFETY: the caller's promise.
        unsafe { (self.start as *mut u8).copy_from_nonoverlapping(self.bytes.as_ptr(), self.bytes.len()) };
    }
}

impl Attempt {
    /// The words that pointed to blocks that were gone, and then to others that have come and gone, in memory that is there
    /// in every run; and what they stand for.
    fn gone(&self, rounds: &Rounds, home: &dyn Fn(usize) -> Home) -> Vec<(usize, u64)> {
        let Some(settle) = rounds.settle else { return Vec::new() };
        let both = self.before.ranges().zip(self.after.ranges());
        let runs = both.filter(|((address, _), _)| home(*address) == Home::Lasting);
        let words = runs.flat_map(|((address, before), (_, after))| {
            let skipped = address.next_multiple_of(size_of::<u64>()) - address;
            let (before, _) = before.get(skipped..).unwrap_or_default().as_chunks();
            let (after, _) = after.get(skipped..).unwrap_or_default().as_chunks();
            before.iter().zip(after).zip((address + skipped..).step_by(size_of::<u64>()))
        });
        let changed = words.filter_map(|((&before, &after), address)| {
            let form = |word| settle(self.trial.thread, u64::from_ne_bytes(word));
            let known = form(before).filter(|_| before != after)?;
            (form(after) == Some(known)).then_some((address, known))
        });
        changed.collect()
    }
}

/// Whether the recorded event is what the op asks for, from the same place.
fn repeats(event: &Event, op: &Op) -> bool {
    // An event that is a choice has its bound there.
    let expected = if op.kind == Kind::Choice { op.operand } else { op.expected };
    event.matches(op) && event.site == op.site && event.operand == op.operand && event.expected == expected
}
