//! Loops that ask what time it is: when time passes for them.
//!
//! The clock of a thread goes on by what the thread sleeps, and by the whole time of waits that give up. So a loop that
//! waits, and asks the clock whether it has waited for too long, would go on for ever, or until somebody lets it go. Here its time
//! passes: where a thread has gone round and asks again, no time has passed since or some has, and both are explored. How
//! much that is grows from one round to the next, by [`STEPS`], so that code is seen that does one thing after a
//! millisecond and another after a second. After the last step nothing new is to come of it: the clock stands still again, and a loop
//! that still goes on waits for something else.
//!
//! - **Rounds that leave what they found**, and in which the clock has stood still, ask. If no time passes, the round
//!   is idle, and the thread is stopped there as in any loop that waits. That a loop asks is learnt, since its first round has to ask, too:
//!   from its second round, or from the [trial](unpick_loops::Trial) of a round.
//! - **Other rounds** go on as they are. Most such loops end by themselves after some rounds: they count, or sleep. Where one
//!   does not within 24 rounds, that is learnt, the search starts over, and time passes for it too. The verdict then
//!   names what is assumed.
//! - **Loops that sleep, and do not ask**, are idle whatever their clock shows. How long they have taken is asked where
//!   the clock is looked at later, by the thread or by another that knows of it.
//! - **A thread that does nothing but ask** has to see time pass in the end, after 10,000 looks.
//!
//! What is decided depends on nothing but the thread's own events and on what its clocks have shown, so it is the same whenever
//! the execution is repeated.

use unpick_core::event::{Event, EventId};
use unpick_core::facts;
use unpick_core::graph::Graph;
use unpick_core::op::{Site, ThreadId, Value};
use unpick_core::round;

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1000 * MILLISECOND;

/// By how much time passes from one round to the next, in nanoseconds: 200 microseconds, 20 milliseconds, 2 seconds, 200 seconds,
/// and 23 days.
pub const STEPS: [u64; 5] = [MILLISECOND / 5, 20 * MILLISECOND, 2 * SECOND, 200 * SECOND, 2_000_000 * SECOND];

/// How much time the first steps are.
pub fn sum(steps: u64) -> u64 {
    STEPS.iter().take(steps as usize).sum()
}

/// Rounds of a loop in which time passes step by step; later it passes by all that is left at once.
const SINGLE: u32 = 4;

/// Rounds after which it is learnt that a loop goes on whatever it changes, or however long it sleeps.
const PATIENCE: u32 = 24;

/// Looks in a row, with nothing else in between, after which it is learnt that nothing but time is waited for.
const ENDLESS: u32 = 10_000;

/// How often a loop may begin anew, in a larger one, and wait until its time is over.
const RESTARTS: u32 = 64;

/// How many events back a round is looked for.
const BACK: usize = 256;

/// What is assumed where a loop had to be told that time has passed.
const ASSUMPTION: &str = "a loop that asks the clock, and goes on for more than 24 rounds that change something or sleep, sees time \
                          pass faster from then on";

/// What the clock of a thread does when the thread looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// What it would do anywhere.
    Plain,
    /// It stands still: the thread goes round.
    Still,
    /// It stands still, or it goes on by so much: that is to be explored.
    Ask(u64),
    /// It stands still, or it goes on by [the first steps](sum), as many as there are.
    AskAny,
    /// It goes on by so much.
    Pass(u64),
    /// The thread does not go on in this run.
    Leave,
}

/// The same, or what else has come of the look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looked {
    Fine(Look),
    /// The thread goes round, and asks here whether time passes: that was not known.
    Asks,
    /// The place is one at which time has to pass, and that was not known.
    Learnt,
    /// The thread has waited until its time was over, and begun anew, again and again.
    TooOften,
}

/// The looks of a thread at one place.
#[derive(Clone, Copy, Debug)]
struct Place {
    site: Site,
    /// How many events the thread had after the last look, and what its clock showed.
    position: u32,
    time: u64,
    /// Rounds in a row that ended here, and how many of them have asked.
    rounds: u32,
    asked: u32,
    /// Steps that time has passed by.
    steps: usize,
    restarts: u32,
}

/// The looks of a thread.
#[derive(Debug, Default)]
struct Looks {
    places: Vec<Place>,
    /// The place of the last one.
    last: usize,
    /// What the clock has shown then.
    time: u64,
    /// What the thread knew of others then.
    known: Vec<u32>,
}

/// When time passes for loops that ask for it.
#[derive(Debug, Default)]
pub struct Passing {
    threads: Vec<Looks>,
    used: bool,
    /// Whether time had to pass.
    forced: bool,
    /// Whether anybody has ever looked at a clock.
    ever: bool,
    /// Places of loops whose rounds let time pass, as bits.
    spent: u64,
}

impl Passing {
    /// A run begins.
    #[inline(always)]
    pub(crate) fn begin(&mut self) {
        if self.used {
            for looks in &mut self.threads {
                looks.places.clear();
                looks.known.clear();
                looks.time = 0;
            }
            self.used = false;
        }
    }

    /// What the clock of the thread has shown last.
    pub fn seen(&self, thread: ThreadId) -> u64 {
        self.threads.get(thread.index()).map_or(0, |looks| looks.time)
    }

    /// A loop waits at this place whose rounds let time pass: whether that is to be known now, since somebody looks at a clock.
    pub(crate) fn spend(&mut self, site: Site) -> bool {
        self.spent |= facts::bit_of(site);
        self.ever
    }

    /// Somebody looks at a clock: where loops wait whose rounds let time pass, as bits.
    pub(crate) fn spent(&mut self) -> u64 {
        self.ever = true;
        self.spent
    }

    /// Whether a thread knows of such a loop, and has not looked at its clock since it does. `view`: what it knows.
    pub(crate) fn comes_from_loop(
        &mut self,
        graph: &Graph,
        thread: ThreadId,
        view: &[u32],
        spent: u64,
    ) -> bool {
        self.used = true;
        if thread.index() >= self.threads.len() {
            self.threads.resize_with(thread.index() + 1, Looks::default);
        }
        let known = &mut self.threads[thread.index()].known;
        known.resize(graph.thread_count().max(known.len()), 0);
        let mut comes = false;
        for (other, (known, &now)) in known.iter_mut().zip(view).enumerate().take(graph.thread_count()) {
            let other = ThreadId(other as u32);
            let skipped = (*known as usize).saturating_sub(graph.base(other));
            let events = graph.before(other, now as usize).iter().skip(skipped);
            comes |= events.into_iter().any(|event| facts::bit_of(event.site) & spent != 0);
            *known = now.max(*known);
        }
        comes
    }

    /// What is assumed, if time had to pass.
    pub fn assumption(&self) -> Option<&'static str> {
        self.forced.then_some(ASSUMPTION)
    }

    /// Whether time may still pass where the thread looks at its clock.
    pub fn may_pass(&self, thread: ThreadId, site: Site) -> bool {
        let places = self.threads.get(thread.index()).map_or(&[][..], |looks| &looks.places);
        let place = places.iter().find(|place| place.site == site);
        place.is_none_or(|place| place.step(false).is_some())
    }

    /// A thread that has had so many events looks at its clock; `known`: whether it asks here, and whether time has to pass.
    pub(crate) fn look(
        &mut self,
        graph: &Graph,
        (thread, position): (ThreadId, u32),
        site: Site,
        time: u64,
        (asks, known): (bool, bool),
    ) -> Looked {
        self.used = true;
        if thread.index() >= self.threads.len() {
            self.threads.resize_with(thread.index() + 1, Looks::default);
        }
        let looks = &mut self.threads[thread.index()];
        let number = looks.places.iter().position(|place| place.site == site);
        let other = number.is_some_and(|number| std::mem::replace(&mut looks.last, number) != number);
        let Some(number) = number else {
            looks.last = looks.places.len();
            let (rounds, asked, steps, restarts) = (0, 0, 0, 0);
            looks.places.push(Place { site, position, time, rounds, asked, steps, restarts });
            return Looked::Fine(if asks { Look::Ask(STEPS[0]) } else { Look::Plain });
        };
        let place = &mut looks.places[number];
        if place.position != position && !goes_round(graph, thread, place.position..position) {
            (place.rounds, place.asked, place.steps) = (0, 0, 0);
            return Looked::Fine(if asks { Look::Ask(STEPS[0]) } else { Look::Plain });
        }
        place.rounds += 1;
        // A loop in a larger one, which has looked meanwhile, begins anew.
        if other && place.steps > 0 {
            (place.asked, place.steps) = (0, 0);
            place.restarts += 1;
            if place.restarts > RESTARTS {
                return Looked::TooOften;
            }
        }
        let stands = place.time == time;
        if place.position == position {
            return match place.rounds >= ENDLESS {
                _ if known => self.pass(thread, number, false),
                true => Looked::Learnt,
                false => Looked::Fine(Look::Plain),
            };
        }
        let restores = restores(graph, thread, place.position..position);
        if restores && stands {
            place.asked += 1;
            return match place.step(place.asked > SINGLE) {
                None => Looked::Fine(if stands { Look::Still } else { Look::Plain }),
                Some(_) if !asks => Looked::Asks,
                Some(step) => Looked::Fine(Look::Ask(step)),
            };
        }
        match known {
            false if place.rounds >= PATIENCE && (stands || restores) => Looked::Learnt,
            true if stands && place.rounds < PATIENCE => {
                Looked::Fine(place.step(true).map_or(Look::Plain, Look::Ask))
            }
            true if place.rounds >= 2 && (stands || restores) => self.pass(thread, number, stands),
            _ => Looked::Fine(Look::Plain),
        }
    }

    /// Time has to pass.
    fn pass(&mut self, thread: ThreadId, number: usize, all: bool) -> Looked {
        let place = &self.threads[thread.index()].places[number];
        let step = place.step(all);
        self.forced |= step.is_some();
        Looked::Fine(step.map_or(Look::Plain, Look::Pass))
    }

    /// The thread has been told that it is `time`.
    pub(crate) fn looked(&mut self, thread: ThreadId, position: u32, time: u64) {
        let Some(looks) = self.threads.get_mut(thread.index()) else { return };
        looks.time = time;
        let Some(place) = looks.places.get_mut(looks.last) else { return };
        (place.position, place.time) = (position, time);
    }

    /// Time has passed by that much, since it was asked whether it does, or had to.
    pub fn has_passed(&mut self, thread: ThreadId, step: u64) {
        let Some(looks) = self.threads.get_mut(thread.index()) else { return };
        let Some(place) = looks.places.get_mut(looks.last) else { return };
        let single = STEPS.get(place.steps) == Some(&step);
        place.steps = if single { place.steps + 1 } else { STEPS.len() };
    }
}

impl Place {
    /// By how much time passes next, if anything new may come of it.
    fn step(&self, all: bool) -> Option<u64> {
        let left = STEPS.get(self.steps..)?;
        let first = *left.first()?;
        Some(if all { left.iter().sum() } else { first })
    }
}

/// Whether the thread goes round: what it has done last, since it last looked, it had done before as well.
fn goes_round(graph: &Graph, thread: ThreadId, round: std::ops::Range<u32>) -> bool {
    let events = graph.before(thread, round.end as usize);
    let Some((last, _)) = events.split_last() else { return false };
    let since = (round.end - round.start) as usize;
    let is_like = |event: &Event| (event.site, event.kind, event.addr) == (last.site, last.kind, last.addr);
    events.iter().rev().skip(since).take(BACK).any(is_like)
}

/// Whether each location that the thread writes to in the round holds at its end what the thread had last seen there before.
fn restores(graph: &Graph, thread: ThreadId, round: std::ops::Range<u32>) -> bool {
    let base = graph.base(thread) as u32;
    if round.start < base || (round.end - round.start) as usize > BACK {
        return false;
    }
    let events = graph.before(thread, round.end as usize);
    let (before, own) = events.split_at((round.start - base) as usize);
    let id = |index: usize| EventId { thread, index: base + index as u32 };
    own.iter().enumerate().all(|(number, event)| {
        let rest = || own[number + 1..].iter().any(|later| later.is_write() && later.addr == event.addr);
        if !round::may_be_dropped(event) {
            return false;
        }
        if !event.is_write() || rest() {
            return true;
        }
        let is_there = |other: &Event| (other.is_read() || other.is_write()) && other.addr == event.addr;
        let first = own.iter().position(is_there).unwrap_or(number);
        let found: Option<Value> = if own[first].is_read() {
            Some(graph.read_value(id(before.len() + first)))
        } else {
            let known = before.iter().rposition(is_there);
            known.map(|known| match before[known].is_write() {
                true => before[known].value,
                false => graph.read_value(id(known)),
            })
        };
        found == Some(event.value)
    })
}

/// What is known of looks: the bit of a place where a thread looks after so many events.
pub(crate) fn bit_of_look(graph: &Graph, thread: ThreadId, position: u32, site: Site) -> u64 {
    let last = graph.before(thread, position as usize).last().map_or(0, |event| event.site.0);
    facts::bit_of(Site(site.0 ^ last.rotate_left(32)))
}

#[cfg(test)]
mod tests {
    use unpick_core::graph::Synchronisation;
    use unpick_core::op::Mode::{Acquire, Relaxed};
    use unpick_core::op::{Addr, Op, Rmw};

    use super::*;

    const MAIN: ThreadId = ThreadId::MAIN;
    const CLOCK: Site = Site(80);

    fn graph() -> Graph {
        let mut graph = Graph::new(Synchronisation::AsWritten);
        graph.add_location(0);
        graph
    }

    /// Adds an op of the main thread that sees, or follows, the newest write.
    fn take(graph: &mut Graph, op: &Op) {
        let newest = graph.newest(op.addr);
        let event = graph.add(MAIN, op);
        if op.kind == unpick_core::op::Kind::Read {
            graph.read_from(event, newest, false);
        } else {
            graph.insert_write(op.addr, graph.writes(op.addr).len(), event);
        }
    }

    fn load(graph: &mut Graph) {
        take(graph, &Op::load(Addr(0), Acquire, Site(8)));
    }

    fn look(passing: &mut Passing, graph: &Graph, site: Site, time: u64, known: (bool, bool)) -> Looked {
        let position = graph.thread_len(MAIN) as u32;
        let looked = passing.look(graph, (MAIN, position), site, time, known);
        let passes = match looked {
            Looked::Fine(Look::Ask(step) | Look::Pass(step)) => step,
            _ => 0,
        };
        if passes > 0 {
            passing.has_passed(MAIN, passes);
        }
        passing.looked(MAIN, position, time + passes);
        looked
    }

    #[test]
    fn a_loop_that_only_reads_asks_and_its_time_passes_step_by_step_until_all_has_passed() {
        let (mut passing, mut graph, mut time) = (Passing::default(), graph(), 0);
        load(&mut graph);
        assert_eq!(look(&mut passing, &graph, CLOCK, time, (false, false)), Looked::Fine(Look::Plain));
        load(&mut graph);
        assert_eq!(look(&mut passing, &graph, CLOCK, time, (false, false)), Looked::Asks);
        // The search starts over, and the first look asks.
        let mut passing = Passing::default();
        let steps = (0..STEPS.len()).map(|_| {
            load(&mut graph);
            let looked = look(&mut passing, &graph, CLOCK, time, (true, false));
            let Looked::Fine(Look::Ask(step)) = looked else { panic!("{looked:?}") };
            time += step;
            step
        });
        let steps: Vec<u64> = steps.collect();
        assert_eq!(steps, STEPS);
        load(&mut graph);
        assert_eq!(look(&mut passing, &graph, CLOCK, time, (true, false)), Looked::Fine(Look::Still));
        assert!(!passing.may_pass(MAIN, CLOCK) && passing.may_pass(MAIN, Site(88)));
        // A larger loop looks elsewhere, and begins anew.
        look(&mut passing, &graph, Site(88), time, (false, false));
        load(&mut graph);
        assert_eq!(look(&mut passing, &graph, CLOCK, time, (true, false)), Looked::Fine(Look::Ask(STEPS[0])));
    }

    #[test]
    fn a_loop_that_counts_or_sleeps_is_patient() {
        for sleeps in [false, true] {
            let (mut passing, mut graph) = (Passing::default(), graph());
            let mut round = |passing: &mut Passing, time, known| {
                load(&mut graph);
                if !sleeps {
                    take(&mut graph, &Op::rmw(Addr(0), Rmw::Add, Relaxed, 1, Site(16)));
                }
                look(passing, &graph, CLOCK, time, (false, known))
            };
            let time = |round: u32| if sleeps { u64::from(round) } else { 0 };
            for number in 0..PATIENCE {
                assert_eq!(round(&mut passing, time(number), false), Looked::Fine(Look::Plain), "{number}");
            }
            assert_eq!(round(&mut passing, time(PATIENCE), false), Looked::Learnt);
            let known = round(&mut passing, time(PATIENCE + 1), true);
            assert!(matches!(known, Looked::Fine(Look::Pass(_))), "{known:?}");
            assert!(passing.assumption().is_some());
        }
    }

    #[test]
    fn who_does_something_else_in_between_does_not_go_round() {
        let (mut passing, mut graph) = (Passing::default(), graph());
        for site in [8, 16, 24] {
            take(&mut graph, &Op::load(Addr(0), Acquire, Site(site)));
            assert_eq!(look(&mut passing, &graph, CLOCK, 0, (false, false)), Looked::Fine(Look::Plain));
        }
    }

    #[test]
    fn whoever_knows_of_a_loop_that_sleeps_is_asked_once() {
        let (mut passing, mut graph) = (Passing::default(), graph());
        load(&mut graph);
        let spent = facts::bit_of(Site(8));
        assert!(!passing.spend(Site(8)) && passing.spent() == spent && passing.spend(Site(8)));
        assert!(passing.comes_from_loop(&graph, MAIN, &[1], spent));
        assert!(!passing.comes_from_loop(&graph, MAIN, &[1], spent));
        load(&mut graph);
        assert!(passing.comes_from_loop(&graph, MAIN, &[2], spent));
        assert!(!passing.comes_from_loop(&graph, MAIN, &[2], 0));
    }
}
