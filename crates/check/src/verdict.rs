//! What a whole check says.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use unpick_core::strategy::Traces;
use unpick_core::trace::Finding;

use crate::coverage::Coverage;
use crate::effort::Effort;
use crate::vacuous::Vacuous;

/// Counters of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Executions in which all threads ended.
    pub executions: u64,
    /// Executions in which a thread could never go on, for a reason that is no violation.
    pub blocked: u64,
    /// Executions without a violation that were met beyond the bound on preemptions.
    pub beyond: u64,
    /// How many runs repeated an execution in another order, to see whether memory is used that it frees.
    pub again: u64,
    /// Events, replayed ones included.
    pub events: u64,
    /// How often the search has started over, since more had become known about the program. Counting starts from zero then.
    pub restarts: u64,
    /// CPU time.
    pub cpu: Duration,
}

impl Statistics {
    /// The counters of an exploration.
    pub fn new(stats: &unpick_core::stats::Stats, restarts: u64, cpu: Duration) -> Statistics {
        Statistics {
            executions: stats.complete + stats.violated + stats.cut,
            blocked: stats.blocked,
            beyond: stats.beyond,
            events: stats.events(),
            again: stats.again,
            restarts,
            cpu,
        }
    }
}

/// What a verdict rests on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Counters.
    pub statistics: Statistics,
    /// Name of the memory model.
    pub model: String,
    /// Name of the strategy.
    pub strategy: String,
    /// Where the random numbers of the strategy started, if it draws any.
    pub seed: Option<u64>,
    /// Distinct pairs of a write and a read that sees it, by their places in the source, if the strategy
    /// keeps account of them; and the execution that showed a new one last.
    pub pairs: Option<(usize, u64)>,
    /// What was assumed, a sentence each: the memory model's limits, and every bound that was met.
    pub assumptions: Vec<String>,
    /// What was covered under a bound on preemptions, if there was one and the search came to its end.
    pub coverage: Option<Coverage>,
    /// What was counted, under its last bound, by a strategy that runs traces.
    pub traces: Option<Traces>,
    /// How far the check came, if the plan `auto` could not explore everything, or if it was interrupted.
    pub effort: Option<Effort>,
    /// Why the check can show nothing, if that is so and no failure.
    pub vacuous: Option<Vacuous>,
}

impl Summary {
    /// A summary of its parts.
    pub fn new(statistics: Statistics, model: &str, strategy: &str, assumptions: Vec<String>) -> Summary {
        let (model, strategy) = (model.to_string(), strategy.to_string());
        Summary {
            statistics,
            model,
            strategy,
            seed: None,
            pairs: None,
            assumptions,
            coverage: None,
            traces: None,
            effort: None,
            vacuous: None,
        }
    }

    /// The same with what was covered under a bound on preemptions.
    pub fn with_coverage(self, coverage: Option<Coverage>) -> Summary {
        Summary { coverage, ..self }
    }

    /// The same with how far the check came.
    pub fn with_effort(self, effort: Option<Effort>) -> Summary {
        Summary { effort, ..self }
    }

    /// The same with what a strategy over traces has counted.
    pub fn with_traces(self, traces: Option<Traces>) -> Summary {
        Summary { traces, ..self }
    }

    /// The same, of executions that were drawn at random: where the random numbers started, how many
    /// reads-from pairs there were, and the execution that showed a new one last.
    pub fn sampled(self, seed: u64, pairs: Option<(usize, u64)>) -> Summary {
        Summary { seed: Some(seed), pairs, ..self }
    }
}

/// Why a check proved nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// All executions that were allowed were used.
    Executions,
    /// The time was up.
    Time,
    /// The process was interrupted, by Ctrl-C for example.
    Interrupted,
    /// Executions were drawn at random, this many; that proves nothing about the others.
    Sampled(u64),
    /// Some executions were cut at the limit on events, first at this place.
    Events(String),
    /// Loops were cut at the limit on rounds that read the same values, at these places.
    Rounds(Vec<String>),
    /// Executions with more than so many preemptions were left out.
    Preemptions(u32),
    /// Threads were preempted only before some of their operations.
    Points,
    /// The check can show nothing, whatever the program does.
    Vacuous(Vacuous),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Executions => f.write_str("the limit on executions was reached"),
            Reason::Time => f.write_str("the time was up"),
            Reason::Interrupted => f.write_str("the check was interrupted"),
            Reason::Sampled(1) => f.write_str("1 execution was sampled, not all of them"),
            Reason::Sampled(count) => write!(f, "{count} executions were sampled, not all of them"),
            Reason::Events(place) => write!(f, "executions were cut at the limit on events, at {place}"),
            Reason::Rounds(places) => write!(
                f,
                "a loop was cut that went on reading the same values, at {}; let it wait with \
                 `unpick::await_until`, or raise the limit on rounds",
                places.join(", ")
            ),
            Reason::Preemptions(most) => {
                let plural = if *most == 1 { "" } else { "s" };
                write!(f, "executions with more than {most} preemption{plural} were left out")
            }
            Reason::Vacuous(vacuous) => vacuous.fmt(f),
            Reason::Points => {
                f.write_str("threads were preempted only before read-modify-writes and lock operations")
            }
        }
    }
}

/// A violation, with the report that tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Violated {
    /// What happened.
    pub finding: Finding,
    /// What was explored until then.
    pub summary: Summary,
    /// Where the report was saved as JSON.
    pub saved: Option<PathBuf>,
    /// Other violations that were found, and where their reports were saved.
    pub more: Vec<(Finding, Option<PathBuf>)>,
}

impl Violated {
    /// A violation and what led to it.
    pub fn new(finding: Finding, summary: Summary, saved: Option<PathBuf>) -> Violated {
        Violated { finding, summary, saved, more: Vec::new() }
    }

    /// The same with other violations, which were found later.
    pub fn with_more(self, more: Vec<(Finding, Option<PathBuf>)>) -> Violated {
        Violated { more, ..self }
    }

    /// All violations, in the order in which they were found.
    pub fn violations(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(&self.finding).chain(self.more.iter().map(|(finding, _)| finding))
    }

    /// Where the reports were saved as JSON, in the order of [`violations`](Violated::violations).
    pub fn saved(&self) -> impl Iterator<Item = Option<&Path>> {
        let more = self.more.iter().map(|(_, saved)| saved.as_deref());
        std::iter::once(self.saved.as_deref()).chain(more)
    }
}

/// What a check says.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// No execution breaks a property: all were explored, within the bounds of the summary.
    Holds(Summary),
    /// An execution breaks a property.
    Violated(Box<Violated>),
    /// No violation was found, but not everything was explored.
    Inconclusive(Reason, Summary),
}

impl Verdict {
    /// What the verdict rests on.
    pub fn summary(&self) -> &Summary {
        match self {
            Verdict::Holds(summary) | Verdict::Inconclusive(_, summary) => summary,
            Verdict::Violated(violated) => &violated.summary,
        }
    }

    /// Counters.
    pub fn stats(&self) -> Statistics {
        self.summary().statistics
    }

    /// What was assumed, a sentence each.
    pub fn assumptions(&self) -> &[String] {
        &self.summary().assumptions
    }

    /// Whether everything was explored and no property broken.
    pub fn holds(&self) -> bool {
        matches!(self, Verdict::Holds(_))
    }

    /// All violations, in the order in which they were found: at most as many as
    /// [`Config::keep_going`](crate::Config::keep_going) says.
    pub fn violations(&self) -> impl Iterator<Item = &Finding> {
        let violated = match self {
            Verdict::Violated(violated) => Some(violated),
            _ => None,
        };
        violated.into_iter().flat_map(|violated| violated.violations())
    }

    /// The violation that was found first, if there is one.
    pub fn violation(&self) -> Option<&Finding> {
        match self {
            Verdict::Violated(violated) => Some(&violated.finding),
            _ => None,
        }
    }
}

/// What a strategy over traces has counted, in words.
struct Counted<'a>(&'a Traces);

impl fmt::Display for Counted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Traces { complete, classes, stuck, bound, .. } = *self.0;
        if let Some(bound) = bound {
            let plural = if bound == 1 { "" } else { "s" };
            write!(f, "with at most {bound} preemption{plural}, ")?;
        }
        let plural = if complete == 1 { "" } else { "s" };
        write!(f, "{complete} trace{plural}, {classes} inequivalent, {stuck} stuck")
    }
}

/// One line; the alternate form has a line for each thing that was covered or assumed.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let summary = self.summary();
        let separator = if f.alternate() { "\n  " } else { "; " };
        match self {
            Verdict::Holds(_) => f.write_str("holds")?,
            Verdict::Violated(violated) => {
                write!(f, "violated: {}", violated.finding.title)?;
                if !violated.more.is_empty() {
                    write!(f, ", and {} more", violated.more.len())?;
                }
            }
            Verdict::Inconclusive(reason, _) => write!(f, "inconclusive: no violation, but {reason}")?,
        }
        let Statistics { executions, blocked, .. } = summary.statistics;
        let plural = if executions == 1 { "" } else { "s" };
        write!(f, " ({} and {}", summary.model, summary.strategy)?;
        if let Some(seed) = summary.seed {
            write!(f, " with seed {seed}")?;
        }
        write!(f, ": {executions} execution{plural}")?;
        if blocked > 0 {
            write!(f, ", {blocked} blocked")?;
        }
        if summary.statistics.again > 0 {
            write!(f, ", {} run again for freed memory", summary.statistics.again)?;
        }
        if summary.statistics.beyond > 0 {
            write!(f, ", {} beyond the bound", summary.statistics.beyond)?;
        }
        if let Some(traces) = &summary.traces {
            write!(f, "; {}", Counted(traces))?;
        }
        if let Some((pairs, last)) = summary.pairs {
            write!(f, ", {pairs} reads-from pairs, the last new one in execution {last}")?;
        }
        f.write_str(")")?;
        if let Some(coverage) = &summary.coverage {
            write!(f, "{separator}{coverage}")?;
        }
        for line in summary.effort.iter().flat_map(Effort::lines) {
            write!(f, "{separator}{line}")?;
        }
        if let Some(vacuous) = &summary.vacuous {
            write!(f, "{separator}note: {vacuous}")?;
        }
        for assumption in &summary.assumptions {
            write!(f, "{separator}{assumption}")?;
        }
        Ok(())
    }
}
