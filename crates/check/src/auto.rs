//! The plan that decides by itself.
//!
//! It starts to search all executions. If that takes a while, random descents tell how large the search
//! is, and do so again from time to time. If it fits the time, it is carried through. If not, it is put aside:
//! executions with few preemptions are searched, none, one, two, ..., first sequentially consistent ones, of
//! which there are far fewer, then all, as long as the next number is likely to fit; and the rest of the time
//! goes to samplers, in turns, more often to those that still find pairs of a write and a read which nobody has
//! seen yet.
//!
//! A search for all executions ends early if one of them is cut, since it is too long: what other threads would have done is
//! not known then. One that is drawn at random lets all threads run, and such are looked at for a little while.

use std::collections::BTreeSet;
use std::time::Duration;

use unpick_core::execution::Execution;
use unpick_core::plan::{Moment, Outlook, Plan, Step};
use unpick_core::stats::Stats;
use unpick_core::strategy::{Estimate, Path};
use unpick_strategies::optimal::Probe;

use crate::config::{Config, USUAL_TIME};
use crate::coverage::Coverage;
use crate::registry;

/// Descents that are made at most to tell the size of the search.
const DESCENTS: u64 = 2000;

/// Searches sequentially consistent executions by the number of their preemptions.
const TRACES: &str = "cb-dpor";

/// The samplers, those first that are likely to be good.
const SAMPLERS: [&str; 7] = ["pct", "random", "pos", "surw", "urw", "greybox", "digest"];

/// The one of them that lets no thread wait for long.
const FAIR: usize = 1;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// All executions are searched.
    All,
    /// Random descents.
    Descents,
    /// Sequentially consistent executions are searched, those with few preemptions first.
    Traces,
    /// Executions with at most so many preemptions are searched.
    Bound(u32),
    /// The sampler with this number draws executions.
    Sampling(usize),
}

/// A sampler, and how well it does.
#[derive(Default)]
struct Arm {
    /// The sampler, while another one is at work.
    aside: Option<Execution>,
    /// How many turns it has had.
    turns: u32,
    /// New pairs in its turns, those that were long ago counted less.
    gain: f64,
    /// How many of its pairs have been looked at.
    looked: usize,
}

/// The plan.
pub struct Auto {
    config: Config,
    budget: Duration,
    phase: Phase,
    /// When the phase, or the turn of a sampler, began.
    since: Duration,
    /// When to think about the search for all executions again.
    think_at: Duration,
    /// When it was last thought about.
    thought_at: Duration,
    /// Time that went into the search for all executions.
    spent: Duration,
    /// That search, while something else goes on.
    aside: Option<Execution>,
    /// How far it had come when descents were last made.
    path: Path,
    /// Whether descents were made since it was last thought about.
    sounded: bool,
    /// Executions as told by the last descents.
    size: Option<f64>,
    /// What was covered under the last bound that was exhausted, and how long it took.
    covered: Option<(Coverage, Duration)>,
    /// Preemptions up to which all sequentially consistent executions were explored.
    traces: Option<u32>,
    arms: [Arm; SAMPLERS.len()],
    pairs: BTreeSet<(u64, u64)>,
    sampled: u64,
    exhausted: bool,
    /// When samplers stop that look for what was cut off.
    until: Option<Duration>,
}

impl Auto {
    /// The plan for a check with these settings, which must be good.
    pub fn new(config: &Config) -> Auto {
        let budget = config.time_limit.unwrap_or(USUAL_TIME);
        Auto {
            config: config.clone(),
            budget,
            phase: Phase::All,
            since: Duration::ZERO,
            think_at: (budget / 20).max(Duration::from_millis(50)),
            thought_at: Duration::ZERO,
            spent: Duration::ZERO,
            aside: None,
            path: Path::default(),
            sounded: false,
            size: None,
            covered: None,
            traces: None,
            arms: Default::default(),
            pairs: BTreeSet::new(),
            sampled: 0,
            exhausted: false,
            until: None,
        }
    }

    /// What comes when a search has ended that was for all executions.
    fn after_all(&mut self, execution: &mut Execution, now: Duration) -> Step {
        if execution.stats().cut == 0 {
            self.exhausted = true;
            return Step::Exhausted;
        }
        self.until = Some(now + self.budget / 20);
        self.enter(Phase::Sampling(FAIR), execution, now)
    }

    fn execution(&self, strategy: &str, preemptions: Option<u32>) -> Execution {
        let strategy = strategy.to_string();
        let mut config = Config { strategy, preemption_bound: preemptions, ..self.config.clone() };
        if self.until.is_some() {
            // What is cut may well be endless.
            config.max_events.get_or_insert(registry::MOST_EVENTS);
        }
        let mut execution = registry::execution(&config).expect("the settings were good before");
        execution.allow_alone(if self.config.max_events.is_none() { registry::MOST_ALONE } else { 0 });
        execution
    }

    fn make(&self, phase: Phase) -> Execution {
        match phase {
            Phase::All => self.execution("optimal", None),
            Phase::Traces => self.execution(TRACES, None),
            Phase::Bound(preemptions) => self.execution("optimal", Some(preemptions)),
            Phase::Sampling(arm) => self.execution(SAMPLERS[arm], None),
            Phase::Descents => {
                let probe = Probe::new(self.config.spurious_failures, self.config.seed, DESCENTS);
                let probe = probe.beside(self.path.clone());
                let events = self.config.max_events.unwrap_or(registry::MOST_EVENTS);
                let model = registry::model(&self.config.model).expect("the settings were good before");
                let mut execution = Execution::new(model, Box::new(probe), events);
                execution.allow_alone(if self.config.max_events.is_none() {
                    registry::MOST_ALONE
                } else {
                    0
                });
                execution
            }
        }
    }

    /// Puts the search of another phase in place.
    fn enter(&mut self, phase: Phase, execution: &mut Execution, now: Duration) -> Step {
        let next = match phase {
            Phase::All => self.aside.take(),
            Phase::Sampling(arm) => self.arms[arm].aside.take(),
            _ => None,
        };
        let next = next.unwrap_or_else(|| self.make(phase));
        let last = std::mem::replace(execution, next);
        match self.phase {
            Phase::All => {
                self.spent += now.saturating_sub(self.since);
                self.aside = Some(last);
            }
            Phase::Sampling(arm) => self.arms[arm].aside = Some(last),
            Phase::Traces => self.traces = explored_traces(&last),
            Phase::Descents | Phase::Bound(_) => {}
        }
        (self.phase, self.since) = (phase, now);
        Step::Switched
    }

    /// Whether the search for all executions is likely to end in time.
    fn fits(&self, execution: &Execution, now: Duration) -> bool {
        let done = execution.stats().executions() as f64;
        let spent = (self.spent + now.saturating_sub(self.since)).as_secs_f64();
        let left = self.budget.saturating_sub(now).as_secs_f64();
        let tree = || execution.strategy().estimate(execution.stats().executions());
        let total = self.size.or_else(|| tree().map(|tree| tree.total)).unwrap_or(f64::INFINITY);
        (total - done).max(0.0) * spent / done.max(1.0) <= left
    }

    /// What comes when a bound is exhausted, or takes too long.
    fn after_bound(&mut self, bound: u32, execution: &mut Execution, moment: Moment) -> Step {
        let now = moment.elapsed;
        if moment.ended {
            let took = now.saturating_sub(self.since);
            let before = self.covered.map(|(_, took)| took);
            let coverage = Coverage::of(execution).expect("the search has a bound");
            self.covered = Some((coverage, took));
            if coverage.is_total() {
                return self.after_all(execution, now);
            }
            let growth = before.map_or(8.0, |before| took.as_secs_f64() / before.as_secs_f64().max(1e-6));
            let next = took.mul_f64(growth.clamp(2.0, 1e6));
            if next <= self.budget.saturating_sub(now) / 2 {
                return self.enter(Phase::Bound(bound + 1), execution, now);
            }
        } else if now.saturating_sub(self.since) < self.budget.saturating_sub(self.since) / 2 {
            return Step::GoOn;
        }
        self.enter(Phase::Sampling(0), execution, now)
    }

    /// Pairs that the sampler at work has found in its turn so far, and nobody before.
    fn fresh_pairs(&self, arm: usize, execution: &Execution) -> usize {
        let known = execution.strategy().coverage().map_or(&[][..], |coverage| coverage.known());
        let known = known.iter().skip(self.arms[arm].looked);
        known.filter(|(write, read)| !self.pairs.contains(&(write.0, read.0))).count()
    }

    /// Counts what a sampler has found in its turn.
    fn settle(&mut self, arm: usize, execution: &Execution) {
        let known = execution.strategy().coverage().map_or(&[][..], |coverage| coverage.known());
        let before = self.pairs.len();
        self.pairs.extend(known[self.arms[arm].looked..].iter().map(|(write, read)| (write.0, read.0)));
        let gain = (self.pairs.len() - before) as f64;
        let arm = &mut self.arms[arm];
        arm.looked = known.len();
        arm.gain = arm.gain * 0.7 + gain;
        arm.turns += 1;
    }

    /// The sampler that promises most: it has found new pairs lately, or has had few turns.
    fn promising(&self) -> usize {
        let turns = f64::from(self.arms.iter().map(|arm| arm.turns).sum::<u32>().max(1));
        let promise = |arm: &Arm| match arm.turns {
            0 => f64::INFINITY,
            count => arm.gain + (2.0 * turns.ln() / f64::from(count)).sqrt(),
        };
        let arms = self.arms.iter().map(promise).enumerate();
        arms.fold((0, f64::NEG_INFINITY), |best, arm| if arm.1 > best.1 { arm } else { best }).0
    }

    /// Time for descents at most: at first as much as for the search so far, then a tenth of that since the
    /// last ones.
    fn sounding(&self) -> Duration {
        let searched = self.think_at.saturating_sub(self.thought_at);
        if self.size.is_none() { self.budget / 20 } else { searched / 10 }
    }

    fn turn(&self) -> Duration {
        (self.budget / 200).clamp(Duration::from_millis(10), Duration::from_millis(500))
    }

    /// Executions that were drawn at random.
    fn sampled(&self, execution: &Execution) -> u64 {
        let aside = self.arms.iter().filter_map(|arm| arm.aside.as_ref());
        let aside: u64 = aside.map(|execution| execution.stats().executions()).sum();
        let current = matches!(self.phase, Phase::Sampling(_)).then(|| execution.stats().executions());
        self.sampled + aside + current.unwrap_or(0)
    }
}

/// Preemptions up to which a search of traces has explored everything.
fn explored_traces(execution: &Execution) -> Option<u32> {
    execution.strategy().traces().and_then(|traces| traces.explored)
}

impl Plan for Auto {
    fn begin(&mut self) -> Execution {
        *self = Auto::new(&self.config);
        self.make(Phase::All)
    }

    fn start_over(&mut self, execution: &mut Execution) {
        // What was put aside does not fit any more either.
        self.sampled = self.sampled(execution);
        self.aside = None;
        self.path = Path::default();
        self.arms.iter_mut().for_each(|arm| (arm.aside, arm.looked) = (None, 0));
        *execution = self.make(self.phase);
    }

    fn review(&mut self, execution: &mut Execution, moment: Moment) -> Step {
        let now = moment.elapsed;
        if now >= self.budget && !moment.ended {
            if let Phase::Sampling(arm) = self.phase {
                self.settle(arm, execution);
            }
            return Step::OutOfTime;
        }
        match self.phase {
            Phase::All if moment.ended => self.after_all(execution, now),
            Phase::All if now < self.think_at => Step::GoOn,
            Phase::All if !self.sounded => {
                self.path = execution.strategy().path().unwrap_or_default();
                self.enter(Phase::Descents, execution, now)
            }
            Phase::All if self.fits(execution, now) => {
                self.sounded = false;
                self.thought_at = now;
                self.think_at = now + (self.budget.saturating_sub(now) / 4).max(Duration::from_millis(50));
                Step::GoOn
            }
            Phase::All => self.enter(Phase::Traces, execution, now),
            Phase::Descents => {
                if !moment.ended && now.saturating_sub(self.since) < self.sounding() {
                    return Step::GoOn;
                }
                let estimate = execution.strategy().estimate(0);
                self.size = estimate.map(|estimate| estimate.total).or(self.size);
                self.sounded = true;
                self.enter(Phase::All, execution, now)
            }
            Phase::Traces => {
                let most = self.budget.saturating_sub(self.since) / 4;
                if !moment.ended && now.saturating_sub(self.since) < most {
                    return Step::GoOn;
                }
                self.enter(Phase::Bound(0), execution, now)
            }
            Phase::Bound(bound) => self.after_bound(bound, execution, moment),
            Phase::Sampling(arm) => {
                if now.saturating_sub(self.since) < self.turn() {
                    return Step::GoOn;
                }
                self.settle(arm, execution);
                if self.until.is_some_and(|until| now >= until) {
                    return Step::Exhausted;
                }
                let next = self.until.map_or_else(|| self.promising(), |_| FAIR);
                if next == arm {
                    self.since = now;
                    return Step::GoOn;
                }
                self.enter(Phase::Sampling(next), execution, now)
            }
        }
    }

    fn outlook(&self, execution: &Execution) -> Outlook {
        let all = if self.phase == Phase::All { Some(execution) } else { self.aside.as_ref() };
        let done = all.map_or(0, |all| all.stats().executions());
        let tree = all.and_then(|all| all.strategy().estimate(done));
        let total = self.size.map(|size| size.max(done as f64));
        let estimate = match (total, tree) {
            (Some(total), _) => Some(Estimate { progress: done as f64 / total, total, recursive: total }),
            (None, tree) => tree,
        };
        let strategy = match self.phase {
            Phase::Descents => "optimal",
            _ => execution.strategy().name(),
        };
        let sampling = match self.phase {
            Phase::Sampling(arm) => Some(arm),
            _ => None,
        };
        let bound = execution.strategy().preemption_bound().map(|bound| bound.preemptions);
        Outlook {
            strategy: strategy.to_string(),
            bound: bound.or_else(|| execution.strategy().traces()?.bound),
            explored: self.covered.map(|(coverage, _)| coverage.preemptions),
            explored_traces: if self.phase == Phase::Traces {
                explored_traces(execution)
            } else {
                self.traces
            },
            exhausted: self.exhausted,
            estimate,
            sampled: self.sampled(execution),
            pairs: sampling.map(|arm| self.pairs.len() + self.fresh_pairs(arm, execution)),
            restarts: 0,
        }
    }

    fn counts(&self, execution: &Execution, total: Stats) -> Stats {
        if self.exhausted { *execution.stats() } else { total }
    }
}
