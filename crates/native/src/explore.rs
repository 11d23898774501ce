//! The loop over executions, and the verdict.

use std::time::Duration;

use unpick_check::{Conclusion, Config, Error, Statistics, Summary, registry};
use unpick_core::execution::{Execution, Outcome};
use unpick_core::plan::{Ending, Outlook, Plan};
use unpick_core::schedule::Schedule;
use unpick_core::stats::Stats;
use unpick_core::violation::{Kind, Violation};
use unpick_driver::explore::{self, Explorer, Pause, Runner};
use unpick_driver::knowledge::Knowledge;
use unpick_driver::search::Search;
use unpick_driver::witness::{Found, Wanted};
use unpick_native_wire::{self as wire, Message, Warning};

use crate::crash;
use crate::debugger;
use crate::frontend::Handle;
use crate::isolation;
use crate::output::Kept;
use crate::record::Recorder;
use crate::reporting;
use crate::seeks;
use crate::session::{self, Session};
use crate::standby::Standby;
use crate::start::send;

/// How often progress is told.
const PROGRESS: Duration = Duration::from_millis(200);

/// Runs the program again and again, and keeps checkpoints.
struct Process<'a> {
    handle: Handle,
    config: &'a Config,
    told: Duration,
    standby: Standby,
}

impl Runner for Process<'_> {
    fn search(&mut self) -> &mut Search {
        &mut self.handle.session().search
    }

    fn before_run(&mut self, explorer: &Explorer) -> Result<Option<Pause>, Error> {
        let executions = explorer.total(self.search()).executions();
        self.standby.note(executions);
        let due = self.standby.is_due(executions);
        if due && self.standby.checkpoint(executions, || explorer.elapsed()) {
            self.handle.session().restore_files();
        }
        // A checkpoint that has become the worker may be there to end, or has to isolate executions.
        if self.standby.ends || crash::is_interrupted() {
            return Ok(Some(Pause::Over(Ending::Interrupted)));
        }
        if due && self.standby.isolated {
            isolation::begin()?;
        }
        Ok(None)
    }

    fn run(&mut self) -> Result<Outcome, Error> {
        run_checked(self.handle.session())
    }

    /// Passes over a violation that is known. The run may have to be made again, to get past it.
    fn admit(&mut self, outcome: Outcome, explorer: &Explorer) -> Result<Outcome, Error> {
        let Outcome::Violated(violation) = &outcome else { return Ok(outcome) };
        let session = self.handle.session();
        if !session.may_be_known(violation) || explorer.is_known(violation) {
            self.standby.hurry();
            return Ok(outcome);
        }
        let race = session.last_race();
        let config = self.config.named(&explorer.plan.outlook(&session.search.execution));
        let witness = explorer.witness(&session.search, violation);
        let other = registry::execution(&config)?;
        let found =
            aside(session, other, |session| reporting::report(session, &config, violation, &witness, 1))?;
        let stuck = matches!(violation.kind, Kind::Deadlock { .. } | Kind::Livelock { .. });
        if !session.ask_about(found.finding, violation, race) {
            self.standby.hurry();
            return Ok(outcome);
        }
        Ok(match race {
            Some(_) => Outcome::Rerun,
            None if stuck => Outcome::Blocked(Vec::new()),
            None => Outcome::Complete,
        })
    }

    fn progress(&mut self, explorer: &Explorer, total: &Stats, outlook: &dyn Fn(&Search) -> Outlook) {
        let elapsed = explorer.elapsed();
        self.standby.look(total.executions(), elapsed);
        if elapsed >= self.told + PROGRESS {
            self.told = elapsed;
            send(&Message::Progress(progress(&outlook(self.search()), total, elapsed)));
        }
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
        restarts: outlook.restarts,
    }
}

/// Runs an execution; if it has asked for more threads, these are made, and it is to be run again.
fn run_checked(session: &mut Session) -> Result<Outcome, Error> {
    let outcome = session::run(session);
    if let Some(error) = session.search.error.take() {
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
    let known = Knowledge::default();
    let aside = Search::new(other, session.search.limits, known);
    let search = std::mem::replace(&mut session.search, aside);
    let result = follow(session);
    session.search = search;
    session.recorder = None;
    result
}

/// Explores, and sends the verdict.
pub(crate) fn explore(
    session: *mut Session,
    config: &Config,
    plan: Box<dyn Plan>,
    standby: Standby,
) -> Result<(), Error> {
    let handle = Handle(session);
    let limits = explore::Limits {
        executions: config.max_executions,
        time: config.time_limit,
        violations: config.keep_going,
        ends_at_cut: false,
    };
    let mut explorer = Explorer::new(plan, registry::number_of(&config.model), limits, None);
    let mut process = Process { handle, config, told: Duration::ZERO, standby };
    let Pause::Over(ending) = explorer.go_on(&mut process)? else {
        unreachable!("there is one OS thread");
    };
    let session = handle.session();
    let (stats, outlook) = explorer.conclude(&session.search);
    let named = config.named(&outlook);
    let conclusion = Conclusion {
        config: &named,
        decides: config.decides(),
        ending: &ending,
        stats: &stats,
        cpu: cpu(),
        execution: &session.search.execution,
        outlook: &outlook,
        cut: explorer.cut.map(|point| point.site),
        cut_loops: &session.search.cut_loops,
        purpose: &session.search.purpose,
    };
    let summary = conclusion.summary(assumptions(&conclusion, session));
    if !explorer.found.is_empty() {
        session.search.execution = explorer.plan.begin();
        let tell = |found: &Found| {
            reporting::report(session, &named, &found.violation, &found.witness, found.number)
        };
        let told = explorer.found.iter().map(tell).collect::<Result<Vec<_>, _>>()?;
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
    let mut violation = follow(session, &config, &schedule, Wanted::default())?;
    while let Some(known) = &violation
        && session.may_be_known(known)
    {
        let race = session.last_race();
        let found = reporting::report_schedule(session, &config, known, &schedule, 1)?;
        if !session.ask_about(found.finding, known, race) {
            break;
        }
        violation = follow(session, &config, &schedule, Wanted::default())?;
    }
    if !registry::fits(&schedule, &session.search.execution) {
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
        stats: session.search.execution.stats(),
        cpu: cpu(),
        execution: &session.search.execution,
        outlook: &Outlook::default(),
        cut: None,
        cut_loops: &[],
        purpose: &session.search.purpose,
    };
    let summary = conclusion.summary(assumptions(&conclusion, session));
    let found = reporting::report_schedule(session, &config, &violation, &schedule, 1)?;
    finish_violated(vec![found], &summary, &session.unordered.warnings);
    Ok(())
}

/// Runs the execution of a schedule, and keeps what is wanted; the violation that it shows.
pub(crate) fn follow(
    session: &mut Session,
    config: &Config,
    schedule: &Schedule,
    wanted: Wanted,
) -> Result<Option<Violation>, Error> {
    let fresh = || registry::replay(&config.model, schedule);
    session.search = Search::new(fresh()?, session.search.limits, Knowledge::new(&schedule.known));
    session.recorder = Some(Recorder::new(wanted));
    let outcome = loop {
        let outcome = run_checked(session)?;
        if !matches!(outcome, Outcome::Rerun) {
            break outcome;
        }
        if session.search.knowledge.has_grown() {
            session.search.execution = fresh()?;
        } else {
            session.search.execution.prepare_rerun();
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
    wanted: Wanted,
) -> Result<(wire::Output, Option<Violation>), Error> {
    let kept = Kept::begin();
    let violation = follow(session, config, schedule, wanted);
    let [stdout, stderr] = kept.end();
    Ok((wire::Output { stdout, stderr }, violation?))
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
    if session.search.waits && !config.spurious_wakeups {
        assumptions.push(String::from("waits for condition variables return only for a reason"));
    }
    assumptions.extend(session.search.assumptions().into_iter().map(String::from));
    assumptions.extend(session.seeks.any().then(|| String::from(seeks::ASSUMPTION)));
    if session.excuses.any_races() {
        assumptions.push(String::from("what races read that were passed over was not explored in every way"));
    }
    if conclusion.traces().is_some() && session.search.execution.model().name() != "sc" {
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
