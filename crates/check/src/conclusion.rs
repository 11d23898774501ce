//! From what an exploration has come to, to what is said about it.

use std::time::Duration;

use unpick_core::execution::Execution;
use unpick_core::op::Site;
use unpick_core::plan::{Ending, Outlook};
use unpick_core::purpose::Purpose;
use unpick_core::stats::Stats;
use unpick_core::strategy::Traces;

use crate::config::Config;
use crate::coverage::Coverage;
use crate::effort::Effort;
use crate::vacuous::Vacuous;
use crate::verdict::{Reason, Statistics, Summary, Verdict};

/// What an exploration has come to, whoever has run the program.
pub struct Conclusion<'a> {
    /// The settings, with the strategy that was at work in the end.
    pub config: &'a Config,
    /// Whether the plan had several searches, of which this is the last.
    pub decides: bool,
    /// How it ended.
    pub ending: &'a Ending,
    /// Counters, of all searches.
    pub stats: &'a Stats,
    /// CPU time.
    pub cpu: Duration,
    /// The last search.
    pub execution: &'a Execution,
    /// How the check stood in the end.
    pub outlook: &'a Outlook,
    /// Where executions were cut at the limit on events.
    pub cut: Option<Site>,
    /// Places where loops were cut at the limit on rounds.
    pub cut_loops: &'a [Site],
    /// What was seen of the program.
    pub purpose: &'a Purpose,
}

impl Conclusion<'_> {
    /// What was counted by a strategy that runs traces. What is true of the last of several searches is not true
    /// of all.
    pub fn traces(&self) -> Option<Traces> {
        self.execution.strategy().traces().filter(|_| !self.decides)
    }

    /// What the verdict rests on; what was assumed, besides what the memory model assumes, a sentence each.
    pub fn summary(&self, assumptions: impl IntoIterator<Item = String>) -> Summary {
        let Conclusion { config, execution, stats, .. } = *self;
        let (model, strategy) = (execution.model(), execution.strategy());
        let assumptions = model.assumptions().iter().map(|s| s.to_string()).chain(assumptions).collect();
        let whole = self.cut.is_none() && self.cut_loops.is_empty() && stats.violated == 0;
        let exhausted = matches!(self.ending, Ending::Exhausted) && whole;
        let name =
            if config.strategy.starts_with(strategy.name()) { &config.strategy } else { strategy.name() };
        let summary = Summary::new(
            Statistics::new(stats, self.outlook.restarts, self.cpu),
            model.name(),
            name,
            assumptions,
        )
        .with_coverage(Coverage::of(execution).filter(|_| exhausted))
        .with_traces(self.traces())
        .with_effort(self.effort());
        if !strategy.samples() {
            return summary;
        }
        summary.sampled(config.seed, strategy.coverage().map(|pairs| (pairs.pairs(), pairs.last_new())))
    }

    /// How far the check came, if that is worth telling.
    fn effort(&self) -> Option<Effort> {
        let partial = match self.ending {
            Ending::Time | Ending::Executions => self.decides,
            Ending::Interrupted => true,
            Ending::Exhausted | Ending::Violated(_) => false,
        };
        partial.then(|| Effort::new(self.outlook, self.stats.executions(), self.config.seed))
    }

    /// The verdict, if no violation was found; `told` puts a place into words.
    ///
    /// # Panics
    ///
    /// When it ended with a violation.
    pub fn verdict(&self, mut summary: Summary, told: impl Fn(Site) -> String) -> Verdict {
        let reason = self.reason(&summary, &told);
        // A thread that is not seen has ended the check.
        let is_over =
            matches!(reason, None | Some(Reason::Sampled(_))) || self.purpose.unseen_thread.is_some();
        if is_over {
            match Vacuous::of(self.purpose, self.stats, told) {
                Some(vacuous) if vacuous.is_mistake() && !self.config.allows_vacuous => {
                    return Verdict::Inconclusive(Reason::Vacuous(vacuous), summary);
                }
                // Where nobody minds, what is no mistake is not worth a line.
                vacuous => {
                    let allowed = self.config.allows_vacuous;
                    summary.vacuous = vacuous.filter(|vacuous| vacuous.is_mistake() || !allowed);
                }
            }
        }
        match reason {
            None => Verdict::Holds(summary),
            Some(reason) => Verdict::Inconclusive(reason, summary),
        }
    }

    /// Why nothing was proved, if that is so.
    fn reason(&self, summary: &Summary, told: impl Fn(Site) -> String) -> Option<Reason> {
        Some(match self.ending {
            Ending::Violated(_) => unreachable!("a violation is among those that were found"),
            Ending::Exhausted => return self.left_out(summary, told),
            Ending::Executions | Ending::Time if summary.seed.is_some() && !self.decides => {
                Reason::Sampled(self.stats.executions())
            }
            Ending::Executions => Reason::Executions,
            Ending::Time => Reason::Time,
            Ending::Interrupted => Reason::Interrupted,
        })
    }

    /// What a search has left out that came to its end.
    fn left_out(&self, summary: &Summary, told: impl Fn(Site) -> String) -> Option<Reason> {
        if let Some(site) = self.cut {
            return Some(Reason::Events(told(site)));
        }
        if !self.cut_loops.is_empty() {
            return Some(Reason::Rounds(self.cut_loops.iter().map(|&site| told(site)).collect()));
        }
        match (summary.coverage, summary.traces) {
            (Some(coverage), _) if !coverage.is_total() => Some(Reason::Preemptions(coverage.preemptions)),
            (_, Some(traces)) if traces.cut => Some(Reason::Preemptions(traces.bound.unwrap_or(0))),
            (_, Some(traces)) if traces.selective => Some(Reason::Points),
            _ => None,
        }
    }
}
