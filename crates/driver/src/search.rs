//! The search in progress, as the session of a front-end keeps it.

use unpick_core::error::Error;
use unpick_core::execution::{Execution, Outcome, Turn};
use unpick_core::facts::{TIME_IS_ASKED, TIME_IS_SPENT, TIME_PASSES, bit_of};
use unpick_core::op::{Op, Site, ThreadId};
use unpick_core::purpose::Purpose;
use unpick_core::violation::{Point, Wait, Waiter};
use unpick_loops::{Loops, Review, Trial, Verdict};

use crate::knowledge::Knowledge;
use crate::passing::{self, Look, Looked, Passing};

/// What is done about loops.
#[derive(Clone, Copy, Debug)]
pub struct LoopLimits {
    /// Whether loops that only wait are recognised; if not, they go on until they are cut.
    pub recognised: bool,
    /// How often a loop may read the same write at the same place before it is cut.
    pub rounds: usize,
}

/// A search in progress.
pub struct Search {
    /// The engine.
    pub execution: Execution,
    /// What is known of loops that wait.
    pub loops: Loops,
    /// What is done about them.
    pub limits: LoopLimits,
    /// When time passes for loops that ask what time it is.
    pub passing: Passing,
    /// What a thread knows that looks at its clock.
    view: Vec<u32>,
    /// What is known about the program.
    pub knowledge: Knowledge,
    /// Places where a loop was cut.
    pub cut_loops: Vec<Site>,
    /// Why the check cannot go on.
    pub error: Option<Error>,
    /// Whether a thread has waited, without a time limit, for another to wake it.
    pub waits: bool,
    /// The turn of the repetition that has shown the last violation, if one has.
    pub turn: Option<Turn>,
    /// What has been seen of the program that a check is for.
    pub purpose: Purpose,
}

impl Search {
    /// A search that has not started.
    pub fn new(execution: Execution, limits: LoopLimits, knowledge: Knowledge) -> Search {
        Search {
            execution,
            loops: Loops::default(),
            limits,
            passing: Passing::default(),
            view: Vec::new(),
            knowledge,
            cut_loops: Vec::new(),
            error: None,
            waits: false,
            turn: None,
            purpose: Purpose::default(),
        }
    }

    /// A run begins, which repeats what is recorded if there are turns to take. `os_thread` tells OS threads apart.
    #[inline(always)]
    pub fn begin(
        &mut self,
        os_thread: usize,
        settle: fn(ThreadId, u64) -> Option<u64>,
        again: Option<&[Turn]>,
    ) {
        self.turn = None;
        match again {
            Some(turns) => self.execution.begin_again(turns),
            None => self.execution.begin(),
        }
        self.loops.rounds.settle_by(settle);
        self.loops.begin(os_thread, self.execution.has_stable_addresses());
        self.execution.set_spare(self.loops.spare());
        self.passing.begin();
    }

    /// A thread asks what time it is, whose clock stands at `time`, in nanoseconds.
    pub fn look(&mut self, thread: ThreadId, site: Site, time: u64) -> Look {
        let spent = self.passing.spent();
        if self.learn(TIME_IS_SPENT, spent) {
            return Look::Leave;
        }
        let position = self.execution.position(thread);
        let spent = self.knowledge.get(TIME_IS_SPENT);
        if spent != 0 {
            let mut view = std::mem::take(&mut self.view);
            view.clear();
            view.extend_from_slice(self.execution.view(thread));
            let asks = self.passing.comes_from_loop(self.execution.graph(), thread, &view, spent);
            self.view = view;
            if asks {
                return Look::AskAny;
            }
        }
        let graph = self.execution.graph();
        let bit = passing::bit_of_look(graph, thread, position, site);
        let asks = self.knowledge.get(TIME_IS_ASKED) & bit != 0;
        let passes = self.knowledge.get(TIME_PASSES) & bit_of(site) != 0;
        match self.passing.look(graph, (thread, position), site, time, (asks, passes)) {
            Looked::Fine(look) => look,
            Looked::Asks => {
                self.learn(TIME_IS_ASKED, bit);
                Look::Leave
            }
            Looked::Learnt => {
                self.learn(TIME_PASSES, bit_of(site));
                Look::Leave
            }
            Looked::TooOften => {
                let point = Point { thread, index: position, site };
                self.execution.block(thread, Waiter { point, wait: Wait::Bound });
                self.note_cut(site);
                Look::Leave
            }
        }
    }

    /// The thread has been told that it is `time`.
    pub fn looked(&mut self, thread: ThreadId, time: u64) {
        self.passing.looked(thread, self.execution.position(thread), time);
    }

    /// The program cannot be checked any further: the run ends, and then the check.
    pub fn refuse(&mut self, error: Error) {
        self.error.get_or_insert(error);
        self.execution.request_rerun();
    }

    /// Sets bits of a fact. Whether that is new: then the run ends, and the search starts over.
    #[inline(always)]
    pub fn learn(&mut self, fact: usize, bits: u64) -> bool {
        let new = self.knowledge.learn(fact, bits);
        if new {
            self.execution.request_rerun();
        }
        new
    }

    /// Something has become known that is kept elsewhere: the run ends, and the search starts over.
    pub fn start_over(&mut self) {
        self.knowledge.grow();
        self.execution.request_rerun();
    }

    /// What is assumed of loops.
    pub fn assumptions(&self) -> Vec<&'static str> {
        self.loops.rounds.assumption().into_iter().chain(self.passing.assumption()).collect()
    }

    /// Takes note of what came of the trial of a round.
    pub fn tried(&mut self, trial: &Trial, verdict: &Verdict) {
        if matches!(verdict, Verdict::Idle(_)) {
            if let Some((site, position)) = trial.unasked() {
                self.looks_unasked(trial.thread, position, site);
            }
            if trial.spends_time() && self.passing.spend(trial.site) {
                self.learn(TIME_IS_SPENT, bit_of(trial.site));
            }
        }
        match self.loops.tried(&self.execution, trial, verdict) {
            Some(true) => self.start_over(),
            Some(false) => self.execution.request_rerun(),
            None => {}
        }
    }

    /// The execution has ended. If others notice more rounds of a loop than was known, the search starts over.
    pub(crate) fn end(&mut self) -> Outcome {
        let outcome = self.execution.end();
        match self.loops.review(&mut self.execution, &outcome) {
            Review::StartOver => {
                self.knowledge.grow();
                Outcome::Rerun
            }
            Review::TooMany(site) => {
                self.note_cut(site);
                outcome
            }
            Review::Fine => outcome,
        }
    }

    /// A round that is tried looks at the clock, after so many events of its thread, and has not asked whether time passes: if it
    /// may, the search starts over.
    fn looks_unasked(&mut self, thread: ThreadId, position: u32, site: Site) {
        if self.passing.may_pass(thread, site) {
            let bit = passing::bit_of_look(self.execution.graph(), thread, position, site);
            self.learn(TIME_IS_ASKED, bit);
        }
    }

    /// Cuts a loop that goes round too often; whether it does.
    pub(crate) fn cut(&mut self, thread: ThreadId, op: &Op) -> bool {
        let cut = self.loops.cut(&mut self.execution, thread, op, self.limits.rounds);
        if cut {
            self.note_cut(op.site);
        }
        cut
    }

    fn note_cut(&mut self, site: Site) {
        if !self.cut_loops.contains(&site) {
            self.cut_loops.push(site);
        }
    }
}
