//! Plans: which search comes first, and what comes after it.
//!
//! A strategy searches in one way. A plan watches over a whole check: it gives the check its first
//! search, looks at how far that has come, and may put another one in its place.

use std::time::Duration;

use crate::execution::Execution;
use crate::stats::Stats;
use crate::strategy::Estimate;
use crate::violation::Violation;

/// Where a check is.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Time since it began.
    pub elapsed: Duration,
    /// Whether the current search has come to its end.
    pub ended: bool,
}

/// What a plan says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To go on with the same search.
    GoOn,
    /// To go on with another search, which has been put in its place.
    Switched,
    /// That the check is over, and everything was explored that was to be.
    Exhausted,
    /// That the check is over, since the time is used up.
    OutOfTime,
}

impl Step {
    /// How the check has ended, if it is over.
    pub fn ending(self) -> Option<Ending> {
        match self {
            Step::GoOn | Step::Switched => None,
            Step::Exhausted => Some(Ending::Exhausted),
            Step::OutOfTime => Some(Ending::Time),
        }
    }
}

/// How a check ended.
#[derive(Clone, Debug)]
pub enum Ending {
    /// Everything was explored.
    Exhausted,
    /// As many violations were found as were asked for; this is the last.
    Violated(Violation),
    /// The executions were used up.
    Executions,
    /// The time was used up.
    Time,
    /// The process was interrupted.
    Interrupted,
}

/// How a check stands, for those who wait for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outlook {
    /// Name of the strategy that is at work.
    pub strategy: String,
    /// The bound on preemptions that is being explored.
    pub bound: Option<u32>,
    /// The highest bound on preemptions within which everything has been explored, if it is deepened.
    pub explored: Option<u32>,
    /// The same for sequentially consistent executions only.
    pub explored_traces: Option<u32>,
    /// Whether a plan of several searches has explored everything.
    pub exhausted: bool,
    /// How large the search for all executions is.
    pub estimate: Option<Estimate>,
    /// Executions that were drawn at random.
    pub sampled: u64,
    /// Distinct pairs of a write and a read that sees it, by their places in the source.
    pub pairs: Option<usize>,
    /// How often the search has started over, since more had become known about the program.
    pub restarts: u64,
}

/// What a check does, one search after another.
pub trait Plan: Send {
    /// A search that has not begun.
    fn begin(&mut self) -> Execution;

    /// Puts a new search in place of one that does not fit any more: something has become known about
    /// the program.
    fn start_over(&mut self, execution: &mut Execution) {
        *execution = self.begin();
    }

    /// Looks at the current search, now and then between executions and when it has come to its end.
    /// It may put another one in its place.
    fn review(&mut self, execution: &mut Execution, moment: Moment) -> Step;

    /// How the check stands.
    fn outlook(&self, execution: &Execution) -> Outlook;

    /// What counts in the verdict, of all that was done.
    fn counts(&self, _execution: &Execution, total: Stats) -> Stats {
        total
    }
}

/// After how many executions a plan is asked at the latest.
const EXECUTIONS_PER_REVIEW: u32 = 64;

/// After how many events, if executions are long.
const EVENTS_PER_REVIEW: u64 = 100_000;

/// Counts executions over the searches of a plan, and says when the plan is to be asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// What the searches before the current one have come to.
    before: Stats,
    /// What the current one had come to when it was put in place.
    entry: Stats,
    /// Executions since the plan was asked.
    executions: u32,
    /// Events of the current search when the plan was asked.
    events: u64,
}

impl Tally {
    /// What all searches have come to.
    pub fn total(&self, execution: &Execution) -> Stats {
        self.before.plus(*execution.stats(), self.entry)
    }

    /// Puts a new search in place of one that does not fit any more.
    pub fn start_over(&mut self, plan: &mut dyn Plan, execution: &mut Execution) {
        plan.start_over(execution);
        self.entry = *execution.stats();
    }

    /// Whether the plan is to be asked, an execution later; `ended`: it was the last one of the search.
    #[inline]
    pub fn is_review_due(&mut self, execution: &Execution, ended: bool) -> bool {
        self.executions += 1;
        self.executions >= EXECUTIONS_PER_REVIEW
            || ended
            || execution.stats().events() >= self.events + EVENTS_PER_REVIEW
    }

    /// Asks the plan what comes next.
    pub fn review(&mut self, plan: &mut dyn Plan, execution: &mut Execution, moment: Moment) -> Step {
        let total = self.total(execution);
        let step = plan.review(execution, moment);
        if step == Step::Switched {
            (self.before, self.entry) = (total, *execution.stats());
        }
        (self.executions, self.events) = (0, execution.stats().events());
        step
    }
}

/// A plan of one search, which is carried through.
pub struct Single<F> {
    begin: F,
}

impl<F: FnMut() -> Execution + Send> Single<F> {
    /// The plan to carry through what `begin` makes.
    pub fn new(begin: F) -> Single<F> {
        Single { begin }
    }
}

impl<F: FnMut() -> Execution + Send> Plan for Single<F> {
    fn begin(&mut self) -> Execution {
        (self.begin)()
    }

    fn review(&mut self, _: &mut Execution, moment: Moment) -> Step {
        if moment.ended { Step::Exhausted } else { Step::GoOn }
    }

    fn outlook(&self, execution: &Execution) -> Outlook {
        let strategy = execution.strategy();
        let bound = strategy.preemption_bound().map(|bound| bound.preemptions);
        let traces = strategy.traces();
        let executions = execution.stats().executions();
        Outlook {
            strategy: strategy.name().to_string(),
            bound: bound.or_else(|| traces?.bound),
            explored_traces: traces.and_then(|traces| traces.explored),
            sampled: if strategy.samples() { executions } else { 0 },
            estimate: strategy.estimate(executions),
            pairs: strategy.coverage().map(|coverage| coverage.pairs()),
            ..Outlook::default()
        }
    }
}
