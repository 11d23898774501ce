//! From a violation to what is told about it.
//!
//! The part of the graph that the violation rests on is put in an order with few changes of
//! thread, run once more in that order to see that it fails again, and a second time to keep the
//! call stacks. What the report shows is that run.

mod calls;
mod explain;
mod memory;
mod tasks;
mod trace;

use std::path::PathBuf;

use unpick_check::{Config, Error, registry, strategies};
use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::ThreadId;
use unpick_core::schedule::{Schedule, linearise};
use unpick_core::trace::Finding;
use unpick_core::violation::{Kind, Point, Violation, Wait};
use unpick_runtime::Program;

use crate::keep_going::Found;
use crate::replay;

/// Tokens up to this length are printed; longer ones go into a file.
const LONGEST_TOKEN: usize = 120;

/// The schedules that lead to a violation.
pub(crate) struct Ways {
    /// Of the events that it rests on.
    needed: Schedule,
    /// Of all events.
    whole: Schedule,
}

impl Ways {
    /// The schedules that lead to a violation of this graph.
    pub(crate) fn new(config: &Config, graph: &Graph, facts: &[u64], violation: &Violation) -> Ways {
        let model = registry::number_of(&config.model);
        if graph.is_compacted() {
            let whole = Schedule::of_compacted(graph, model).with_facts(facts);
            return Ways { needed: whole.clone(), whole };
        }
        let schedule = |lens: &[u32]| Schedule::new(graph, &linearise(graph, lens), model).with_facts(facts);
        let threads = (0..graph.thread_count()).map(|t| ThreadId(t as u32));
        let all: Vec<u32> = threads.map(|thread| graph.thread_len(thread) as u32).collect();
        Ways { needed: schedule(&graph.closure(&foundation(graph, violation))), whole: schedule(&all) }
    }
}

/// Tells a violation that was found, and where the report was saved.
pub(crate) fn tell(
    config: &Config,
    program: &Program,
    found: &Found,
) -> Result<(Finding, Option<PathBuf>), Error> {
    let Found { violation, ways, number } = found;
    match tell_schedule(config, program, violation, &ways.needed, *number) {
        Err(Error::Token { .. }) => tell_schedule(config, program, violation, &ways.whole, *number),
        told => told,
    }
}

/// Tells the violation at the end of a schedule.
pub(crate) fn tell_schedule(
    config: &Config,
    program: &Program,
    violation: &Violation,
    schedule: &Schedule,
    number: u64,
) -> Result<(Finding, Option<PathBuf>), Error> {
    let lost = || Error::Token {
        problem: format!(
            "an execution with a {} was found, but running it again did not show it; the program may not be \
             deterministic: look for clocks, random numbers, hash-map order, or state that outlives one run",
            violation.title()
        ),
    };
    let (_, again) = replay::run(config, program, schedule, Vec::new(), None)?;
    let again = again.filter(|again| again.title() == violation.title()).ok_or_else(lost)?;
    let (explored, told) = replay::run(config, program, schedule, points(&again), again.kind.block())?;
    let told = told.ok_or_else(lost)?;
    let token = schedule.to_string();
    let told = trace::Told::new(&explored, &told);
    let (trace, message, place) = told.tell();
    let mut finding = Finding {
        title: again.title().to_string(),
        message,
        place,
        trace,
        token: token.clone(),
        model: config.model.clone(),
        strategy: strategy_of(config),
        execution: number,
    };
    let name = format!("{}-{:08x}", again.title().replace(' ', "-"), schedule.fingerprint);
    let file = (token.len() > LONGEST_TOKEN).then(|| save(&format!("{name}.schedule"), &token)).flatten();
    if let Some(path) = file {
        finding.token = path.display().to_string();
    }
    let saved = save(&format!("{name}.json"), &format!("{:#}\n", unpick_report::json(&finding)));
    Ok((finding, saved))
}

/// The strategy of a check, as a report names it.
fn strategy_of(config: &Config) -> String {
    match strategies::strategy(config) {
        Ok(strategy) if strategy.samples() => format!("{} with seed {}", config.strategy, config.seed),
        _ => config.strategy.clone(),
    }
}

/// The events that must have taken place for the violation to show.
fn foundation(graph: &Graph, violation: &Violation) -> Vec<EventId> {
    let mut events = Vec::new();
    let mut before = |thread: ThreadId, count: u32| {
        if count > 0 {
            events.push(EventId { thread, index: count - 1 });
        } else {
            events.extend(graph.spawn_of(thread));
        }
    };
    match &violation.kind {
        Kind::Race { accesses, .. } => {
            for access in accesses {
                let point = access.point;
                let is_event = graph
                    .thread(point.thread)
                    .get(point.index as usize)
                    .is_some_and(|event| event.site == point.site && (event.is_read() || event.is_write()));
                before(point.thread, point.index + u32::from(is_event));
            }
        }
        Kind::Unpublished { access, .. } => {
            before(access.point.thread, access.point.index + u32::from(access.atomic));
        }
        Kind::UseAfterFree { access, freed, .. } => {
            before(access.point.thread, access.point.index);
            before(freed.thread, freed.index);
        }
        Kind::DoubleFree { first, .. } => {
            before(first.thread, first.index);
            before(violation.point.thread, violation.point.index);
        }
        Kind::Panic { .. }
        | Kind::BadUnlock { .. }
        | Kind::Exit { .. }
        | Kind::Abort
        | Kind::Uninitialised { .. }
        | Kind::InvalidFree { .. }
        | Kind::Crash { .. } => before(violation.point.thread, violation.point.index),
        _ => {
            for t in 0..graph.thread_count() {
                let thread = ThreadId(t as u32);
                if graph.exists(thread) {
                    before(thread, graph.thread_len(thread) as u32);
                }
            }
        }
    }
    events
}

/// The points whose call stacks are wanted.
fn points(violation: &Violation) -> Vec<Point> {
    match &violation.kind {
        Kind::Race { accesses, .. } => accesses.iter().map(|access| access.point).collect(),
        Kind::Unpublished { access, .. } | Kind::UseAfterFree { access, .. } => vec![access.point],
        Kind::Deadlock { waiters } | Kind::Livelock { waiters } => {
            waiters.iter().filter(|w| !matches!(w.wait, Wait::Join(_))).map(|w| w.point).collect()
        }
        Kind::BadUnlock { .. } | Kind::Exit { .. } | Kind::Abort => vec![violation.point],
        _ => Vec::new(),
    }
}

/// Writes a file below `target/unpick`; `None` if that is not possible.
fn save(name: &str, text: &str) -> Option<PathBuf> {
    let folder = folder()?.join("unpick");
    std::fs::create_dir_all(&folder).ok()?;
    let path = folder.join(name);
    std::fs::write(&path, text).ok()?;
    Some(path)
}

/// The folder that cargo builds into.
fn folder() -> Option<PathBuf> {
    if let Some(target) = std::env::var_os("CARGO_TARGET_DIR") {
        return Some(PathBuf::from(target));
    }
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join("target")).find(|target| target.is_dir())
}
