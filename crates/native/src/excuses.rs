//! Violations that are known, and that nobody wants to hear of.
//!
//! A file names them by functions, source files and variables. Names are known to whoever has started the process, so that one
//! is asked when a violation shows for the first time. What it says is kept by the addresses of the places, so that
//! it is asked once. After a known race the execution goes on as if there were none.

use unpick_core::error::Error;
use unpick_core::op::Site;
use unpick_core::violation::{Kind, Point, Violation};
use unpick_native_wire::{Answer, Finding, Mark, Message, Question, resolve};

use crate::session::Session;
use crate::shadow::{Conflict, Touch};
use crate::start;

/// A race, by what it is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Race {
    /// Places of the accesses, in order.
    sites: [Site; 2],
    /// Address of the memory; 0 if it is not static.
    object: usize,
    /// A hash of the functions that have led to the later access; `None`: it does not matter who calls.
    callers: Option<u64>,
}

/// What is known to be known.
#[derive(Debug, Default)]
pub(crate) struct Excuses {
    /// Whether there is somebody to ask.
    pub(crate) asks: bool,
    races: Vec<Race>,
    /// Title and places of violations at the end of executions.
    endings: Vec<(&'static str, Vec<Site>)>,
    /// Places of allocations, and whether it is known that their blocks are left behind.
    leaks: Vec<(Site, bool)>,
    /// The race that has ended the run.
    last: Option<Race>,
    /// The pairs of accesses in this run that have been passed over.
    pub(crate) passed: Vec<(Point, Point)>,
}

impl Excuses {
    /// Forgets the run.
    pub(crate) fn begin(&mut self) {
        self.last = None;
        self.passed.clear();
    }

    /// Whether races have been passed over.
    pub(crate) fn any_races(&self) -> bool {
        !self.races.is_empty()
    }
}

fn ordered(mut sites: [Site; 2]) -> [Site; 2] {
    sites.sort_unstable();
    sites
}

impl Session {
    /// Whether what stands against an access is known; then it is to be passed over.
    pub(crate) fn excuse(&mut self, conflict: Conflict, touch: Touch, address: usize) -> bool {
        if !self.excuses.asks {
            return false;
        }
        let other = match conflict {
            Conflict::Race(access) => access.point,
            Conflict::Unborn(birth) => birth,
            Conflict::Freed(_) | Conflict::Outside | Conflict::Undefined => return false,
        };
        let sites = ordered([other.site, touch.point.site]);
        let object = if self.modules.code(address).is_some() { address } else { 0 };
        let same = |race: &&Race| race.sites == sites && race.object == object;
        let known = |race: &Race| race.callers.is_none_or(|callers| callers == self.callers());
        if self.excuses.races.iter().filter(same).any(known) {
            self.excuses.passed.push((other, touch.point));
            return true;
        }
        self.excuses.last = Some(Race { sites, object, callers: Some(self.callers()) });
        false
    }

    /// A hash of the functions of the program that the running thread is in.
    fn callers(&self) -> u64 {
        let top = self.threads[self.current.index()].fiber.top;
        let frames = crate::frames::walk(0, top);
        let own = frames.iter().filter(|frame| !self.modules.is_system(frame.address));
        own.fold(0, |hash: u64, frame| {
            (hash ^ frame.address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
        })
    }

    /// Whether blocks that were allocated at a place are known to be left behind.
    pub(crate) fn is_known_leak(&mut self, site: Site) -> bool {
        if !self.excuses.asks {
            return false;
        }
        if let Some((_, known)) = self.excuses.leaks.iter().find(|(asked, _)| *asked == site) {
            return *known;
        }
        let places = self.modules.code(site.0 as usize).into_iter().collect();
        let question = Question { kind: String::from("leak"), places, stacks: Vec::new(), object: None };
        let known = self.ask(question) != Answer::New;
        self.excuses.leaks.push((site, known));
        known
    }

    /// Whether a violation at the end of an execution is known.
    pub(crate) fn is_known_ending(&self, violation: &Violation) -> bool {
        let signature = ending(violation);
        self.excuses.endings.contains(&signature)
    }

    /// Whether a violation can be among those that are known.
    pub(crate) fn may_be_known(&self, violation: &Violation) -> bool {
        let kind = matches!(
            violation.kind,
            Kind::Race { .. } | Kind::Unpublished { .. } | Kind::Deadlock { .. } | Kind::Livelock { .. }
        );
        self.excuses.asks && kind
    }

    /// The race that has ended the run, if one has.
    pub(crate) fn last_race(&self) -> Option<Race> {
        self.excuses.last
    }

    /// Asks whether a violation is known, and keeps the answer. `race`: it has ended a run that can go on without it.
    pub(crate) fn ask_about(&mut self, finding: Finding, violation: &Violation, race: Option<Race>) -> bool {
        let mut places = Vec::new();
        let mut objects = Vec::new();
        for line in &finding.message {
            resolve(line, |mark| {
                match mark {
                    Mark::Code(code) => places.push(code),
                    Mark::Object(object) => objects.push(object),
                }
                String::new()
            });
        }
        let stuck = matches!(violation.kind, Kind::Deadlock { .. } | Kind::Livelock { .. });
        let question = Question {
            kind: String::from(if stuck { "deadlock" } else { "race" }),
            places,
            stacks: finding.trace.stacks.into_iter().map(|stack| stack.frames).collect(),
            object: objects.first().and_then(|&object| finding.trace.objects.get(object).cloned()),
        };
        let answer = self.ask(question);
        match (answer, race) {
            (Answer::New, _) => return false,
            (Answer::ByPlace, Some(race)) => self.excuses.races.push(Race { callers: None, ..race }),
            (Answer::ByCaller, Some(race)) => self.excuses.races.push(race),
            (_, None) => self.excuses.endings.push(ending(violation)),
        }
        true
    }

    fn ask(&mut self, question: Question) -> Answer {
        start::send(&Message::Ask(question));
        let line = start::receive();
        line.and_then(|line| Answer::read(&line).ok()).unwrap_or_else(|| {
            let problem = String::from(
                "nobody says which violations are known; start the program with `unpick run --suppressions`",
            );
            self.search.error.get_or_insert(Error::Misuse { problem });
            Answer::New
        })
    }
}

/// What a violation at the end of an execution is known by.
fn ending(violation: &Violation) -> (&'static str, Vec<Site>) {
    let (title, sites, _) = unpick_driver::witness::signature(violation);
    (title, sites)
}
