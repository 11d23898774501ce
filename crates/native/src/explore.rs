//! The loop over executions, and the verdict.

use std::time::{Duration, Instant};

use unpick_check::ways::{Found, Ways};
use unpick_check::{Conclusion, Config, Error, Statistics, Summary, registry};
use unpick_core::execution::{Execution, Outcome};
use unpick_core::plan::{Ending, Moment, Outlook, Plan, Tally};
use unpick_core::schedule::Schedule;
use unpick_core::stats::Stats;
use unpick_core::violation::{Kind, Point, Violation};
use unpick_native_wire::{self as wire, Message, Warning};

use crate::crash;
use crate::debugger;
use crate::facts::Facts;
use crate::isolation;
use crate::output::Kept;
use crate::record::Recorder;
use crate::seeks;
use crate::session::{self, Session};
use crate::standby::Standby;
use crate::start::send;
use crate::telling;

/// How often progress is told.
const PROGRESS: Duration = Duration::from_millis(200);

/// A search in progress.
struct Search<'a> {
    session: &'a mut Session,
    config: &'a Config,
    plan: Box<dyn Plan>,
    started: Instant,
    told: Duration,
    cut: Option<Point>,
    tally: Tally,
    found: Vec<Found>,
    standby: Standby,
}

impl Search<'_> {
    fn run(&mut self) -> Result<Ending, Error> {
        loop {
            let executions = self.tally.total(&self.session.execution).executions();
            self.standby.note(executions);
            if self.standby.is_due(executions) {
                self.stand_by(executions)?;
            }
            if self.standby.ends {
                return Ok(Ending::Interrupted);
            }
            let outcome = self.run_once()?;
            if let Outcome::Cut(point) = outcome {
                self.cut.get_or_insert(point);
            }
            if let Outcome::Violated(violation) = &outcome {
                self.keep(violation);
                if self.found.len() >= self.config.keep_going {
                    return Ok(Ending::Violated((**violation).clone()));
                }
                self.standby.hurry();
            }
            let execution = &mut self.session.execution;
            execution.recycle(outcome);
            let ended = !execution.advance();
            if self.tally.is_review_due(execution, ended)
                && let Some(ending) = self.review(ended)
            {
                if matches!(ending, Ending::Exhausted) && self.lose_patience() {
                    continue;
                }
                return Ok(ending);
            }
            if let Some(most) = self.config.max_executions
                && self.tally.total(&self.session.execution).executions() >= most
            {
                return Ok(Ending::Executions);
            }
            if crash::is_interrupted() {
                return Ok(Ending::Interrupted);
            }
        }
    }

    /// Starts over if no execution has come to its end, and the reason may be that threads let each other go on now and
    /// then, in vain. Whether it does.
    fn lose_patience(&mut self) -> bool {
        let stats = self.tally.total(&self.session.execution);
        let whole = stats.cut == 0 && self.session.cut_loops.is_empty() && !self.session.execution.samples();
        let none_ends = stats.complete == 0 && stats.blocked > 0 && self.found.is_empty();
        if self.session.impatient || !whole || !none_ends {
            return false;
        }
        self.session.impatient = true;
        self.tally.renew(&mut *self.plan, &mut self.session.execution);
        true
    }

    /// Makes a checkpoint. When it has become the worker, it may have to isolate executions.
    fn stand_by(&mut self, executions: u64) -> Result<(), Error> {
        let started = self.started;
        if self.standby.checkpoint(executions, || started.elapsed()) {
            self.session.restore_files();
        }
        if self.standby.isolated { isolation::begin() } else { Ok(()) }
    }

    /// Keeps a violation, if none like it was found before.
    fn keep(&mut self, violation: &Violation) {
        if self.found.iter().any(|found| found.is_like(violation)) {
            return;
        }
        let execution = &self.session.execution;
        let ways = Ways::new(self.config, execution.graph(), self.session.facts.bits(), violation);
        let number = self.tally.total(execution).executions();
        self.found.push(Found { violation: violation.clone(), ways, number });
    }

    /// The outcome, if its violation is not one of those that are known. If it is, the run may have to be made again, to get past it.
    fn without_known(&mut self, outcome: Outcome) -> Result<Outcome, Error> {
        let Outcome::Violated(violation) = &outcome else { return Ok(outcome) };
        let is_kept = self.found.iter().any(|found| found.is_like(violation));
        if !self.session.may_be_known(violation) || is_kept {
            return Ok(outcome);
        }
        let race = self.session.last_race();
        let config = self.config.named(&self.plan.outlook(&self.session.execution));
        let ways = Ways::new(&config, self.session.execution.graph(), self.session.facts.bits(), violation);
        let other = registry::execution(&config)?;
        let found =
            aside(self.session, other, |session| telling::tell(session, &config, violation, &ways, 1))?;
        let stuck = matches!(violation.kind, Kind::Deadlock { .. } | Kind::Livelock { .. });
        if !self.session.ask_about(found.finding, violation, race) {
            return Ok(outcome);
        }
        Ok(match race {
            Some(_) => Outcome::Again,
            None if stuck => Outcome::Blocked(Vec::new()),
            None => Outcome::Complete,
        })
    }

    /// Runs until an execution has come to its end, and counts it.
    fn run_once(&mut self) -> Result<Outcome, Error> {
        loop {
            let outcome = run_checked(self.session)?;
            let outcome = self.without_known(outcome)?;
            if !matches!(outcome, Outcome::Again) {
                self.session.execution.count(&outcome);
                return Ok(outcome);
            }
            if std::mem::take(&mut self.session.renew) {
                self.tally.renew(&mut *self.plan, &mut self.session.execution);
            } else {
                self.session.execution.again();
            }
        }
    }

    /// Asks the plan what comes next.
    fn review(&mut self, ended: bool) -> Option<Ending> {
        let execution = &mut self.session.execution;
        let stats = self.tally.total(execution);
        let elapsed = self.started.elapsed();
        self.standby.look(stats.executions(), elapsed);
        let step = self.tally.review(&mut *self.plan, execution, Moment { elapsed, ended });
        if elapsed >= self.told + PROGRESS {
            self.told = elapsed;
            send(&Message::Progress(progress(&self.plan.outlook(execution), &stats, elapsed)));
        }
        let late = self.config.time_limit.is_some_and(|most| elapsed >= most);
        step.ending().or(late.then_some(Ending::Time))
    }
}

fn progress(outlook: &Outlook, stats: &Stats, elapsed: Duration) -> wire::Progress {
    wire::Progress {
        elapsed: elapsed.as_millis() as u64,
        executions: stats.executions(),
        blocked: stats.blocked,
        strategy: outlook.strategy.clone(),
        bound: outlook.bound,
        explored: outlook.explored,
        explored_traces: outlook.explored_traces,
        // JSON knows no number beyond the largest.
        estimate: outlook.estimate.map(|estimate| (estimate.progress.max(0.0), estimate.total.min(f64::MAX))),
        sampled: outlook.sampled,
        pairs: outlook.pairs,
    }
}

/// Runs an execution; if it has asked for more threads, these are made, and it is to be run again.
fn run_checked(session: &mut Session) -> Result<Outcome, Error> {
    let outcome = session::run(session);
    if let Some(error) = session.error.take() {
        return Err(error);
    }
    if session.wanted > session.threads.len() {
        let count = session.wanted.max(2 * session.threads.len());
        session.grow(count)?;
    }
    Ok(outcome)
}

/// Follows other schedules in the middle of a search, which then goes on.
fn aside<R>(session: &mut Session, other: Execution, follow: impl FnOnce(&mut Session) -> R) -> R {
    let execution = std::mem::replace(&mut session.execution, other);
    let loops = std::mem::take(&mut session.loops);
    let (facts, names) = (session.facts, std::mem::take(&mut session.names));
    let result = follow(session);
    session.execution = execution;
    (session.loops, session.facts, session.names) = (loops, facts, names);
    (session.recorder, session.renew) = (None, false);
    result
}

/// Explores, and sends the verdict.
pub(crate) fn explore(
    session: *mut Session,
    config: &Config,
    plan: Box<dyn Plan>,
    standby: Standby,
) -> Result<(), Error> {
    // SAFETY: the session is never freed, and this is the only reference while the program does not run.
    let session = unsafe { &mut *session };
    let started = Instant::now();
    let mut search = Search {
        session,
        config,
        plan,
        started,
        told: Duration::ZERO,
        cut: None,
        tally: Tally::default(),
        found: Vec::new(),
        standby,
    };
    let ending = search.run()?;
    let Search { session, mut plan, cut, tally, found, .. } = search;
    let stats = plan.counts(&session.execution, tally.total(&session.execution));
    let outlook = plan.outlook(&session.execution);
    let named = config.named(&outlook);
    let conclusion = Conclusion {
        config: &named,
        decides: config.decides(),
        ending: &ending,
        stats: &stats,
        cpu: cpu(),
        execution: &session.execution,
        outlook: &outlook,
        cut: cut.map(|point| point.site),
        cut_loops: &session.cut_loops,
    };
    let summary = conclusion.summary(assumptions(&conclusion, session));
    if !found.is_empty() {
        session.execution = plan.begin();
        let tell =
            |found: &Found| telling::tell(session, &named, &found.violation, &found.ways, found.number);
        let told = found.iter().map(tell).collect::<Result<Vec<_>, _>>()?;
        finish_violated(told, &summary, &session.unordered.warnings);
        return Ok(());
    }
    let verdict = conclusion.verdict(summary, |site| session.told_site(site));
    let ending = if verdict.holds() { wire::Ending::Holds } else { wire::Ending::Inconclusive };
    let warnings = session.unordered.warnings.clone();
    send(&ended(ending, format!("{verdict:#}"), verdict.summary(), warnings));
    Ok(())
}

/// Runs the execution of a token, and sends what it shows.
pub(crate) fn replay(session: *mut Session, config: &Config, token: &str) -> Result<(), Error> {
    // SAFETY: as in `explore`.
    let session = unsafe { &mut *session };
    let schedule: Schedule =
        token.trim().parse().map_err(|malformed| Error::Token { problem: format!("{malformed}") })?;
    let mut config = config.clone();
    config.model = registry::model_of(&schedule)?;
    let mut violation = follow(session, &config, &schedule, Vec::new())?;
    while let Some(known) = &violation
        && session.may_be_known(known)
    {
        let race = session.last_race();
        let found = telling::tell_schedule(session, &config, known, &schedule, 1)?;
        if !session.ask_about(found.finding, known, race) {
            break;
        }
        violation = follow(session, &config, &schedule, Vec::new())?;
    }
    if !registry::fits(&schedule, &session.execution) {
        return Err(Error::Token {
            problem: String::from("it belongs to another program, or the program has changed since"),
        });
    }
    let Some(violation) = violation else {
        return Err(Error::Token {
            problem: String::from(
                "the execution was repeated and shows no violation; the program may be mended",
            ),
        });
    };
    if debugger::is_on() {
        return Ok(());
    }
    let conclusion = Conclusion {
        config: &config,
        decides: false,
        ending: &Ending::Violated(violation.clone()),
        stats: session.execution.stats(),
        cpu: cpu(),
        execution: &session.execution,
        outlook: &Outlook::default(),
        cut: None,
        cut_loops: &[],
    };
    let summary = conclusion.summary(assumptions(&conclusion, session));
    let found = telling::tell_schedule(session, &config, &violation, &schedule, 1)?;
    finish_violated(vec![found], &summary, &session.unordered.warnings);
    Ok(())
}

/// Runs the execution of a schedule, and keeps the call stacks at the wanted points; the violation that it shows.
pub(crate) fn follow(
    session: &mut Session,
    config: &Config,
    schedule: &Schedule,
    wanted: Vec<Point>,
) -> Result<Option<Violation>, Error> {
    session.execution = registry::replay(&config.model, schedule)?;
    session.loops = Default::default();
    session.facts = Facts::new(&schedule.known.facts);
    session.names.clone_from(&schedule.known.threads);
    session.recorder = Some(Recorder::new(wanted));
    let outcome = loop {
        let outcome = run_checked(session)?;
        if !matches!(outcome, Outcome::Again) {
            break outcome;
        }
        if std::mem::take(&mut session.renew) {
            session.execution = registry::replay(&config.model, schedule)?;
        } else {
            session.execution.again();
        }
    };
    match outcome {
        Outcome::Violated(violation) => Ok(Some(*violation)),
        _ => Ok(None),
    }
}

/// As [`follow`], and keeps what the program writes.
pub(crate) fn follow_with_output(
    session: &mut Session,
    config: &Config,
    schedule: &Schedule,
    wanted: Vec<Point>,
) -> Result<(Option<Violation>, wire::Output), Error> {
    let kept = Kept::begin();
    let violation = follow(session, config, schedule, wanted);
    let [stdout, stderr] = kept.end();
    Ok((violation?, wire::Output { stdout, stderr }))
}

fn finish_violated(found: Vec<wire::Found>, summary: &Summary, warnings: &[Warning]) {
    let Statistics { executions, blocked, .. } = summary.statistics;
    let blocked = if blocked > 0 { format!(", {blocked} blocked") } else { String::new() };
    let plural = if executions == 1 { "" } else { "s" };
    let more = match found.len() {
        0 | 1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    let title = found.first().map_or("", |found| &found.finding.title);
    let Summary { model, strategy, .. } = summary;
    let text =
        format!("violated: {title}{more} ({model} and {strategy}: {executions} execution{plural}{blocked})");
    for found in found {
        send(&Message::Violation(Box::new(found)));
    }
    send(&ended(wire::Ending::Violated, text, summary, warnings.to_vec()));
}

fn ended(ending: wire::Ending, text: String, summary: &Summary, warnings: Vec<Warning>) -> Message {
    let Statistics { executions, blocked, events, cpu, .. } = summary.statistics;
    let cpu = cpu.as_micros() as u64;
    Message::Ended(wire::Verdict { ending, text, executions, blocked, events, cpu, warnings })
}

/// What was assumed, besides what the memory model assumes.
fn assumptions(conclusion: &Conclusion<'_>, session: &Session) -> Vec<String> {
    let config = conclusion.config;
    let mut assumptions = Vec::new();
    if !config.spurious_failures {
        assumptions.push(String::from("weak compare-and-exchange fails only for a reason"));
    }
    if session.waits && !config.spurious_wakeups {
        assumptions.push(String::from("waits for condition variables return only for a reason"));
    }
    assumptions.extend(session.loops.rounds.assumption().map(String::from));
    assumptions.extend(session.seeks.any().then(|| String::from(seeks::ASSUMPTION)));
    if session.excuses.any_races() {
        assumptions.push(String::from("what races read that were passed over was not explored in every way"));
    }
    if conclusion.traces().is_some() && session.execution.model().name() != "sc" {
        assumptions.push(format!(
            "`{}` explores sequentially consistent executions only: what else `{}` allows was not explored",
            config.strategy, config.model
        ));
    }
    assumptions
}

/// CPU time of the process, and of those that have run executions for it.
fn cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let arguments = [libc::CLOCK_PROCESS_CPUTIME_ID as usize, &raw mut time as usize, 0, 0, 0, 0];
    // SAFETY: a valid clock and a valid place for its time.
    unsafe { crate::sys::call(libc::SYS_clock_gettime, arguments) };
    // SAFETY: zeroes are a valid account.
    let mut children: libc::rusage = unsafe { std::mem::zeroed() };
    let arguments = [libc::RUSAGE_CHILDREN as usize, &raw mut children as usize, 0, 0, 0, 0];
    // SAFETY: a valid place for the account.
    unsafe { crate::sys::call(libc::SYS_getrusage, arguments) };
    let used = |time: libc::timeval| Duration::new(time.tv_sec as u64, 1000 * time.tv_usec as u32);
    let own = Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
    own + used(children.ru_utime) + used(children.ru_stime)
}
