//! The loop over executions.

use std::time::{Duration, Instant};

use unpick_core::error::Error;
use unpick_core::execution::{Execution, Outcome};
use unpick_core::plan::{Ending, Moment, Outlook, Plan, Tally};
use unpick_core::stats::Stats;
use unpick_core::violation::{Point, Violation};

use crate::search::Search;
use crate::witness::{Found, Witness};

/// Why the loop over executions is left between two of them.
#[derive(Clone, Debug)]
pub enum Pause {
    /// The check is over.
    Over(Ending),
    /// It must go on in another OS thread.
    Elsewhere,
}

/// Who runs the program.
pub trait Runner {
    /// The search that it works for.
    fn search(&mut self) -> &mut Search;

    /// Runs the program once, and [judges](crate::judge::judge) the execution. One that has not come to its end says
    /// [`Outcome::Rerun`], and is run again.
    ///
    /// # Errors
    ///
    /// When the check cannot go on.
    fn run(&mut self) -> Result<Outcome, Error>;

    /// Called before each run: whether to leave the loop instead.
    ///
    /// # Errors
    ///
    /// When the check cannot go on.
    fn before_run(&mut self, _explorer: &Explorer) -> Result<Option<Pause>, Error> {
        Ok(None)
    }

    /// Looks at an outcome before it counts.
    ///
    /// # Errors
    ///
    /// When the check cannot go on.
    fn admit(&mut self, outcome: Outcome, _explorer: &Explorer) -> Result<Outcome, Error> {
        Ok(outcome)
    }

    /// Whether the process must end after the report, so that nothing can be looked for any more.
    fn is_fatal(&self) -> bool {
        false
    }

    /// A search begins that has nothing to do with the one before.
    fn begin_search(&mut self) {}

    /// Called now and then: how far the check has come.
    fn progress(&mut self, _explorer: &Explorer, _total: &Stats, _outlook: &dyn Fn(&Search) -> Outlook) {}
}

/// When to give up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Executions at most.
    pub executions: Option<u64>,
    /// Time at most.
    pub time: Option<Duration>,
    /// How many violations are looked for.
    pub violations: usize,
    /// Whether the check is over when an execution was cut at the limit on events.
    pub ends_at_cut: bool,
}

/// Sees every execution that has ended, and each time when the search starts over: then the outcome is [`Outcome::Rerun`].
pub type Observer = Box<dyn FnMut(&Execution, &Outcome) + Send>;

/// Goes from one execution to the next, and keeps what was found.
pub struct Explorer {
    /// What is searched, and how.
    pub plan: Box<dyn Plan>,
    /// Where executions were cut at the limit on events.
    pub cut: Option<Point>,
    /// The violations that were found, each once.
    pub found: Vec<Found>,
    /// The memory model, as a number in schedules.
    model: u8,
    limits: Limits,
    observer: Option<Observer>,
    started: Instant,
    tally: Tally,
    /// How often the search has started over.
    restarts: u64,
}

impl Explorer {
    /// Begins now; `model`: the memory model, as a number in schedules.
    pub fn new(plan: Box<dyn Plan>, model: u8, limits: Limits, observer: Option<Observer>) -> Explorer {
        Explorer {
            plan,
            cut: None,
            found: Vec::new(),
            model,
            limits,
            observer,
            started: Instant::now(),
            tally: Tally::default(),
            restarts: 0,
        }
    }

    /// Goes on until the check is over, or must go on elsewhere.
    ///
    /// # Errors
    ///
    /// Those of the runner.
    pub fn go_on<R: Runner>(&mut self, runner: &mut R) -> Result<Pause, Error> {
        loop {
            if let Some(pause) = runner.before_run(self)? {
                return Ok(pause);
            }
            let outcome = runner.run()?;
            if let Some(error) = runner.search().error.take() {
                return Err(error);
            }
            let outcome = runner.admit(outcome, self)?;
            if matches!(outcome, Outcome::Rerun) {
                if runner.search().knowledge.has_grown() {
                    self.start_over(runner);
                } else {
                    runner.search().execution.prepare_rerun();
                }
            } else if let Some(ending) = self.count(runner, outcome) {
                return Ok(Pause::Over(ending));
            }
        }
    }

    /// Takes note of an execution that has come to its end, and makes the next one. How the check ends, if that was the
    /// last.
    fn count<R: Runner>(&mut self, runner: &mut R, outcome: Outcome) -> Option<Ending> {
        let is_fatal = runner.is_fatal();
        let search = runner.search();
        search.execution.count(&outcome);
        if let Some(observer) = &mut self.observer {
            observer(&search.execution, &outcome);
        }
        match &outcome {
            Outcome::Violated(violation) => {
                self.keep(search, violation);
                if self.found.len() >= self.limits.violations || is_fatal {
                    return Some(Ending::Violated((**violation).clone()));
                }
            }
            Outcome::Cut(point) => {
                self.cut.get_or_insert(*point);
                if self.limits.ends_at_cut {
                    return Some(Ending::Exhausted);
                }
            }
            _ => {}
        }
        search.execution.recycle(outcome);
        let ended = !search.execution.advance();
        if self.tally.is_review_due(&search.execution, ended)
            && let Some(ending) = self.review(runner, ended)
        {
            if !matches!(ending, Ending::Exhausted) || !self.lose_patience(runner.search()) {
                return Some(ending);
            }
            self.start_over(runner);
            return None;
        }
        let most = self.limits.executions?;
        (self.total(runner.search()).executions() >= most).then_some(Ending::Executions)
    }

    /// Keeps a violation, if none like it was found before.
    fn keep(&mut self, search: &Search, violation: &Violation) {
        if !self.is_known(violation) {
            let witness = self.witness(search, violation);
            let number = self.total(search).executions();
            self.found.push(Found { violation: violation.clone(), witness, number });
        }
    }

    /// How to get to a violation of the execution that has just ended.
    pub fn witness(&self, search: &Search, violation: &Violation) -> Witness {
        Witness::new(search.execution.graph(), self.model, &search.knowledge, violation, search.turn.as_ref())
    }

    /// Whether a violation like this one was found before.
    pub fn is_known(&self, violation: &Violation) -> bool {
        self.found.iter().any(|found| found.is_like(violation))
    }

    /// Begins the search again, with what is known now.
    fn start_over<R: Runner>(&mut self, runner: &mut R) {
        let search = runner.search();
        if let Some(observer) = &mut self.observer {
            observer(&search.execution, &Outcome::Rerun);
        }
        self.restarts += 1;
        self.tally.start_over(&mut *self.plan, &mut search.execution);
        runner.begin_search();
    }

    /// Whether no execution has come to its end, and the reason may be that threads let each other go on now and then,
    /// in vain: then that counts from now on.
    fn lose_patience(&self, search: &mut Search) -> bool {
        let stats = self.total(search);
        let whole = stats.cut == 0 && search.cut_loops.is_empty() && !search.execution.samples();
        let none_ends = stats.complete == 0 && stats.blocked > 0 && stats.violated == 0;
        whole && none_ends && search.knowledge.lose_patience()
    }

    /// Asks the plan what comes next.
    fn review<R: Runner>(&mut self, runner: &mut R, ended: bool) -> Option<Ending> {
        let search = runner.search();
        let total = self.total(search);
        let moment = Moment { elapsed: self.elapsed(), ended };
        let step = self.tally.review(&mut *self.plan, &mut search.execution, moment);
        runner.progress(self, &total, &|search| self.outlook(search));
        if step == unpick_core::plan::Step::Switched {
            runner.begin_search();
        }
        step.ending().or(self.is_late().then_some(Ending::Time))
    }

    /// Whether the time is over.
    pub fn is_late(&self) -> bool {
        self.limits.time.is_some_and(|most| self.elapsed() >= most)
    }

    /// Time since the check began.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// What all searches have come to.
    pub fn total(&self, search: &Search) -> Stats {
        self.tally.total(&search.execution)
    }

    /// What counts in the verdict, and how the check stands in the end.
    pub fn conclude(&mut self, search: &Search) -> (Stats, Outlook) {
        let stats = self.plan.counts(&search.execution, self.total(search));
        (stats, self.outlook(search))
    }

    /// How the check stands.
    fn outlook(&self, search: &Search) -> Outlook {
        Outlook { restarts: self.restarts, ..self.plan.outlook(&search.execution) }
    }
}
