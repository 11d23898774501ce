//! The search in progress, as the session of a front-end keeps it.

use unpick_core::error::Error;
use unpick_core::execution::{Execution, Outcome};
use unpick_core::op::{Op, Site, ThreadId};
use unpick_core::purpose::Purpose;
use unpick_loops::{Loops, Review, Trial, Verdict};

use crate::knowledge::Knowledge;

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
    /// What is known about the program.
    pub knowledge: Knowledge,
    /// Places where a loop was cut.
    pub cut_loops: Vec<Site>,
    /// Why the check cannot go on.
    pub error: Option<Error>,
    /// Whether a thread has waited, without a time limit, for another to wake it.
    pub waits: bool,
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
            knowledge,
            cut_loops: Vec::new(),
            error: None,
            waits: false,
            purpose: Purpose::default(),
        }
    }

    /// A run begins. `os_thread` tells OS threads apart.
    #[inline(always)]
    pub fn begin(&mut self, os_thread: usize, settle: fn(ThreadId, u64) -> Option<u64>) {
        self.execution.begin();
        self.loops.rounds.settle_by(settle);
        self.loops.begin(os_thread, self.execution.has_stable_addresses());
        self.execution.set_spare(self.loops.spare());
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

    /// Takes note of what came of the trial of a round.
    pub fn tried(&mut self, trial: &Trial, verdict: &Verdict) {
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
