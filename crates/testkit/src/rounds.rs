//! Programs with loops that wait: which graphs there are when loops are gone round a number of times, and which of
//! them an engine may leave out.
//!
//! A round is what a thread does between two arrivals at the head of a loop in the same state: same position, same
//! registers. The rule that the engine has to keep is written here once more, over the oracle's own graphs. A
//! round may be dropped if
//!
//! - it writes nothing plain;
//! - its writes to a place, as far as they are next to each other in `mo`, leave the value of the write `p` before
//!   them, and none but the last is read outside of the round;
//! - without the round, and with the readers of the last reading `p`, nothing happens before anything, or is before
//!   it in `po ∪ rf`, that was not so with it.
//!
//! What is compared: the complete graphs of the engine are graphs of the program, each is visited once, those in which
//! no round may be dropped are all visited; the rounds of them that leave nothing behind, as the engine sees it, may
//! be dropped; the outcomes are those of all complete graphs, whatever may be
//! dropped; there is a race or a stuck execution if there is one in any graph. And a graph without a round that may be
//! dropped must be consistent: so says the rule.
//!
//! The engine is asked to let threads go on for as many rounds that nobody has noticed as brute force tries: with fewer it
//! misses graphs, as `unpick_core::round` says.
//!
//! A graph is stuck if each thread is done, waits for a lock, or stands at the head of a loop at the end of a round
//! that may be dropped, has no free choice, and reads what it has written itself, or else the newest writes when the
//! last rounds of all threads are taken out, and no such round of another thread writes another value there, unless no
//! graph at all is complete. Not compared: which and how many graphs there are in which some thread does not end.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::axioms::{Derived, Graph};
use crate::drive::{self, Explored, Settings, explore};
use crate::key::{Key, KeyEvent, Kind};
use crate::oracle::{Candidates, Ending, Outcome, TooLarge, each_graph};
use crate::program::{Mode, Program, Value};
use crate::relation::{Relation, elements};
use crate::trace::{Arrival, End, Trace};
use crate::{Machine, Model, Step};

/// How often brute force goes round a loop.
pub const ROUNDS: usize = 3;

/// Steps of brute force at most. Programs that need more are given up.
const BUDGET: u64 = 40_000;

/// Executions of the engine at most: more than brute force has the time for. What needs more is not compared.
const MOST_EXECUTIONS: u64 = 5_000;

/// Events of an execution of the engine at most: more than any that is compared has.
const MOST_EVENTS: usize = 200;

/// The graphs of a program under one model, when loops are gone round so many times at most.
#[derive(Clone, Debug, Default)]
pub struct Unrolled {
    /// Those in which all threads are done.
    pub complete: BTreeSet<Key>,
    /// Those of them in which no round may be dropped.
    pub minimal: BTreeSet<Key>,
    /// The rounds that may be dropped, of all in which all threads are done.
    pub rounds: BTreeSet<(Key, drive::Round)>,
    /// The outcomes of all in which all threads are done.
    pub outcomes: BTreeSet<Outcome>,
    /// Whether there is one with a race.
    pub racy: bool,
    /// Whether there is one that is stuck.
    pub stuck: bool,
    /// Whether there is one that is stuck unless threads let each other go on.
    in_vain: bool,
    /// Whether a thread would have to go round more often in a graph in which no round may be dropped.
    pub long: bool,
    /// A graph that is not consistent any more without a round that may be dropped.
    pub refuted: Option<Key>,
}

/// The graphs of a program under each model.
///
/// # Errors
///
/// When it is too large.
pub fn unroll(
    program: &Program,
    spurious: bool,
    rounds: usize,
) -> Result<BTreeMap<Model, Unrolled>, TooLarge> {
    let mut found: BTreeMap<Model, Unrolled> =
        Model::ALL.iter().map(|&model| (model, Unrolled::default())).collect();
    each_graph(program, spurious, rounds, BUDGET, &mut |candidates, graph, chosen| {
        let derived = Derived::of(graph);
        let mut judged = Judged::new(candidates, graph, &derived);
        let mut described: Option<(Outcome, Key)> = None;
        for (&model, unrolled) in &mut found {
            if !derived.consistent(model) {
                continue;
            }
            let describe =
                || (candidates.outcome(program, graph, chosen), candidates.key(program, graph, chosen));
            let (outcome, key) = described.get_or_insert_with(describe);
            unrolled.racy |= derived.racy(model);
            if judged.is_refuted(model) {
                unrolled.refuted.get_or_insert_with(|| key.clone());
            }
            let ends = |end: End| candidates.traces.iter().any(|trace| trace.end == end);
            if ends(End::Long) {
                unrolled.long = unrolled.long || judged.is_minimal(model);
            } else if outcome.ending == Ending::Complete {
                let droppable = judged.droppable(model);
                if droppable.is_empty() {
                    unrolled.minimal.insert(key.clone());
                }
                for number in droppable {
                    let Round { thread, from, to, .. } = judged.rounds()[number];
                    unrolled.rounds.insert((key.clone(), drive::Round { thread, from, to }));
                }
                unrolled.outcomes.insert(outcome.clone());
                unrolled.complete.insert(key.clone());
            } else if !ends(End::Assume) {
                unrolled.stuck = unrolled.stuck || judged.is_stuck(model, true);
                unrolled.in_vain = unrolled.in_vain || judged.is_stuck(model, false);
            }
        }
    })?;
    for unrolled in found.values_mut() {
        unrolled.stuck |= unrolled.in_vain && unrolled.complete.is_empty() && !unrolled.long;
    }
    Ok(found)
}

/// A round of a thread that the shape of the graph allows to be dropped.
struct Round {
    thread: usize,
    from: usize,
    to: usize,
    /// The models under which it may be dropped.
    droppable: Vec<Model>,
    /// Those of them under which the graph is not consistent without it.
    refuted: Vec<Model>,
}

/// What is known of a graph.
struct Judged<'g> {
    candidates: &'g Candidates<'g>,
    graph: &'g Graph,
    derived: &'g Derived<'g>,
    rounds: Option<Vec<Round>>,
}

impl<'g> Judged<'g> {
    fn new(candidates: &'g Candidates<'g>, graph: &'g Graph, derived: &'g Derived<'g>) -> Judged<'g> {
        Judged { candidates, graph, derived, rounds: None }
    }

    /// The rounds that the shape of the graph allows to be dropped.
    fn rounds(&mut self) -> &[Round] {
        let (candidates, graph, derived) = (self.candidates, self.graph, self.derived);
        self.rounds.get_or_insert_with(|| {
            let mut rounds = Vec::new();
            for (thread, trace) in candidates.traces.iter().enumerate() {
                for (from, to) in same_states(trace) {
                    let rest = without(candidates, graph, thread, from, to);
                    rounds.extend(rest.map(|rest| rest.judge(derived, thread, from, to)));
                }
            }
            rounds
        })
    }

    /// Those that may be dropped under the model.
    fn droppable(&mut self, model: Model) -> Vec<usize> {
        let rounds = self.rounds().iter().enumerate();
        rounds.filter(|(_, round)| round.droppable.contains(&model)).map(|(number, _)| number).collect()
    }

    /// Whether no round may be dropped, but for the last one of a thread that stands in a loop, if it has one such round.
    fn is_minimal(&mut self, model: Model) -> bool {
        let mut stand = BTreeSet::new();
        let droppable = self.droppable(model);
        let traces = self.candidates.traces;
        let rounds = self.rounds();
        droppable.into_iter().map(|number| &rounds[number]).all(|round| {
            let trace = &traces[round.thread];
            trace.end == End::Stands && round.to == trace.events.len() && stand.insert(round.thread)
        })
    }

    /// Whether the graph is not consistent without some round that may be dropped.
    fn is_refuted(&mut self, model: Model) -> bool {
        self.rounds().iter().any(|round| round.refuted.contains(&model))
    }

    /// Whether no thread can ever go on; `patient`: nor is let go on by others for a while.
    fn is_stuck(&mut self, model: Model, patient: bool) -> bool {
        let droppable = self.droppable(model);
        let traces = self.candidates.traces;
        // For each thread that stands in a loop: where its last round may begin.
        let mut choices = vec![BTreeMap::new()];
        for (thread, trace) in traces.iter().enumerate().filter(|(_, trace)| trace.end == End::Stands) {
            let last = trace.events.len();
            let rounds = self.rounds();
            let own = droppable.iter().map(|&number| &rounds[number]);
            let froms: Vec<usize> = own
                .filter(|round| round.thread == thread && round.to == last)
                .map(|round| round.from)
                .collect();
            let extended = choices.iter().flat_map(|choice: &BTreeMap<usize, usize>| {
                froms.iter().map(|&from| {
                    let mut choice = choice.clone();
                    choice.insert(thread, from);
                    choice
                })
            });
            choices = extended.collect();
        }
        choices.iter().any(|froms| self.repeats(froms, patient))
    }

    /// Whether all threads do the same again if these rounds are the last; `patient`: and none of them writes for a while
    /// what another one does not read.
    fn repeats(&self, froms: &BTreeMap<usize, usize>, patient: bool) -> bool {
        let positions = self.candidates.positions;
        let is_in = |event: usize, thread: usize| {
            let at = positions[event];
            at.0 == thread && froms.get(&thread).is_some_and(|&from| at.1 >= from)
        };
        let in_round = |event: usize| is_in(event, positions[event].0);
        let free = |(&thread, &from): (&usize, &usize)| {
            self.candidates.traces[thread].events[from..].iter().any(|event| event.free)
        };
        if froms.iter().any(free) {
            return false;
        }
        let size = self.graph.events.len();
        (0..size).filter(|&read| in_round(read) && self.graph.events[read].reads()).all(|read| {
            let source = source(self.graph, read);
            // The round that comes next writes after all that is there, and reads what it writes.
            let thread = positions[read].0;
            let (events, place) = (&self.graph.events, self.graph.events[read].place);
            let own =
                |write: usize| events[write].writes() && events[write].place == place && is_in(write, thread);
            if (0..read).any(own) {
                return is_in(source, thread);
            }
            let for_a_while = |write: usize| {
                let of_other = in_round(write) && positions[write].0 != thread;
                let differs = events[write].written != events[read].read;
                of_other && events[write].writes() && events[write].place == place && differs
            };
            if patient && !events[read].waits && (0..size).any(for_a_while) {
                return false;
            }
            let order = order(self.graph, self.graph.events[read].place);
            let newest = order.iter().rposition(|&write| !in_round(write));
            let at = order.iter().position(|&write| write == source);
            // Whoever reads from a round reads what was before it.
            let moved = at.and_then(|at| order[..=at].iter().rposition(|&write| !in_round(write)));
            moved == newest
        })
    }
}

/// Pairs of arrivals of a thread in the same state, as numbers of events before them.
fn same_states<'t>(trace: &'t Trace) -> impl Iterator<Item = (usize, usize)> + 't {
    let arrivals = trace.arrivals.iter().enumerate();
    arrivals.flat_map(|(index, to): (usize, &'t Arrival)| {
        trace.arrivals[..index].iter().filter(|from| from.is_as(to)).map(|from| (from.at, to.at))
    })
}

/// The writes to a place in `mo`.
fn order(graph: &Graph, place: u16) -> Vec<usize> {
    let here = |event: &usize| graph.events[*event].writes() && graph.events[*event].place == place;
    let mut writes: Vec<usize> = (0..graph.events.len()).filter(here).collect();
    writes.sort_by_key(|&write| writes_before(graph, write));
    writes
}

fn writes_before(graph: &Graph, write: usize) -> usize {
    (0..graph.events.len()).filter(|&other| graph.mo.has(other, write)).count()
}

/// Where a read gets its value from.
fn source(graph: &Graph, read: usize) -> usize {
    (0..graph.events.len()).find(|&write| graph.rf.has(write, read)).expect("each read has a source")
}

/// A round, if its shape allows it to be dropped, with the graph without it.
fn without(
    candidates: &Candidates<'_>,
    graph: &Graph,
    thread: usize,
    from: usize,
    to: usize,
) -> Option<Rest> {
    let size = graph.events.len();
    let in_round = |event: usize| {
        let (of, index) = candidates.positions[event];
        of == thread && (from..to).contains(&index)
    };
    let plain = |event: usize| graph.events[event].writes() && graph.events[event].mode == Mode::Plain;
    if (0..size).any(|event| in_round(event) && plain(event)) {
        return None;
    }
    // What readers of the round's writes read instead; nothing, if they must not be there.
    let mut instead: BTreeMap<usize, Option<usize>> = BTreeMap::new();
    let places: BTreeSet<u16> = (0..size)
        .filter(|&e| in_round(e) && graph.events[e].writes())
        .map(|e| graph.events[e].place)
        .collect();
    for place in places {
        let order = order(graph, place);
        let mut before = 0;
        for (index, &write) in order.iter().enumerate() {
            if !in_round(write) {
                before = write;
                continue;
            }
            let is_last = order.get(index + 1).is_none_or(|&next| !in_round(next));
            if is_last && graph.events[write].written != graph.events[before].written {
                return None;
            }
            instead.insert(write, is_last.then_some(before));
        }
    }
    let kept: Vec<usize> = (0..size).filter(|&event| !in_round(event)).collect();
    let events = kept.iter().map(|&event| graph.events[event]).collect();
    let mut rest = Graph::new(events, kept.iter().map(|&event| graph.threads[event]).collect());
    let new = |event: usize| kept.iter().position(|&old| old == event);
    for (index, &event) in kept.iter().enumerate() {
        if graph.events[event].reads() {
            let source = source(graph, event);
            let source = match instead.get(&source) {
                Some(&other) => other?,
                None => source,
            };
            rest.rf.add(new(source)?, index);
        }
        for (later, &other) in kept.iter().enumerate() {
            if graph.mo.has(event, other) {
                rest.mo.add(index, later);
            }
        }
    }
    Some(Rest { graph: rest, kept })
}

/// A graph without a round, and what its events are in the whole graph.
struct Rest {
    graph: Graph,
    kept: Vec<usize>,
}

impl Rest {
    /// Whether the round may be dropped, and whether the rest is consistent.
    fn judge(&self, whole: &Derived<'_>, thread: usize, from: usize, to: usize) -> Round {
        let rest = Derived::of(&self.graph);
        let within = |before: &Relation, after: &Relation| {
            (0..self.kept.len())
                .all(|a| elements(after.row(a)).all(|b| before.has(self.kept[a], self.kept[b])))
        };
        let depends_on_no_more = within(&whole.porf, &rest.porf);
        let learns_no_more = within(&whole.hb, &rest.hb);
        let may_be_dropped = |model: &Model| match model {
            Model::Sc | Model::Tso | Model::Ra => depends_on_no_more,
            Model::Rc11 | Model::Rc11g | Model::Cpp20 => depends_on_no_more && learns_no_more,
        };
        let droppable: Vec<Model> = Model::ALL.into_iter().filter(may_be_dropped).collect();
        let refutes = |model: &Model| whole.consistent(*model) && !rest.consistent(*model);
        let refuted = droppable.iter().copied().filter(refutes).collect();
        Round { thread, from, to, droppable, refuted }
    }
}

/// The graphs of a program under each model, if brute force can list all that matter.
pub fn truths(program: &Program, spurious: bool) -> Option<BTreeMap<Model, Unrolled>> {
    let truths = unroll(program, spurious, ROUNDS).ok()?;
    truths.values().all(|truth| !truth.long).then_some(truths)
}

/// What an engine gets wrong about a program with loops under any model, in words. Programs that are too large pass.
pub fn difference(program: &Program, spurious: bool) -> Option<String> {
    let truths = truths(program, spurious)?;
    difference_of(program, spurious, &truths, |settings| explore(program, settings))
}

/// As [`difference`], with another way to explore.
pub fn difference_of(
    program: &Program,
    spurious: bool,
    truths: &BTreeMap<Model, Unrolled>,
    mut explore: impl FnMut(Settings<'_>) -> Explored,
) -> Option<String> {
    truths.iter().find_map(|(model, truth)| {
        let settings = Settings {
            spurious,
            most_events: MOST_EVENTS,
            most_executions: MOST_EXECUTIONS,
            ..Settings::exact(model.name())
        };
        let found = explore(settings);
        if found.given_up {
            return None;
        }
        compare(program, &found, truth).map(|problem| format!("{model}: {program}\n{problem}"))
    })
}

/// What an engine has found that differs from brute force, in words.
pub fn compare(program: &Program, found: &Explored, truth: &Unrolled) -> Option<String> {
    let mut complete = BTreeSet::new();
    let mut outcomes = BTreeSet::new();
    for key in &found.keys {
        let (outcome, rounds) = replay(program, key);
        if outcome.ending != Ending::Complete {
            continue;
        }
        // What goes round more often is not known to brute force.
        if rounds <= ROUNDS {
            complete.insert(key.clone());
        }
        outcomes.insert(outcome);
    }
    let mut problem = String::new();
    let mut list = |what: &str, things: Vec<String>| {
        if !things.is_empty() {
            let _ = writeln!(problem, "{what}: {} {:#?}", things.len(), &things[..things.len().min(3)]);
        }
    };
    let texts =
        |a: &BTreeSet<Key>, b: &BTreeSet<Key>| a.difference(b).map(Key::to_string).collect::<Vec<_>>();
    list("graphs that do not exist", texts(&complete, &truth.complete));
    list("missing graphs", texts(&truth.minimal, &complete));
    let dropped = found.rounds.difference(&truth.rounds).filter(|(key, _)| complete.contains(key));
    list("rounds that matter", dropped.map(|(key, round)| format!("{round:?} of {key}")).collect());
    let lost = truth.outcomes.difference(&outcomes).map(|outcome| format!("{outcome:?}"));
    list("missing outcomes", lost.collect());
    list("not consistent without a round", truth.refuted.iter().map(Key::to_string).collect());
    let counts = (found.duplicates, found.cut, found.racy > 0, found.deadlock > 0);
    let wanted = (0, 0, truth.racy, truth.stuck);
    if counts != wanted {
        let _ = writeln!(problem, "duplicates, cut, racy, stuck: found {counts:?}, wanted {wanted:?}");
    }
    (!problem.is_empty()).then_some(problem)
}

/// How many complete graphs an engine has found in which a round may be dropped: it may, but need not, leave them
/// out.
pub fn redundant(program: &Program, found: &Explored, truth: &Unrolled) -> usize {
    let complete = |key: &&Key| replay(program, key).0.ending == Ending::Complete;
    found.keys.iter().filter(complete).filter(|key| !truth.minimal.contains(*key)).count()
}

/// What the program has observed in the end, and how often it went round any loop.
fn replay(program: &Program, key: &Key) -> (Outcome, usize) {
    let mut most = 0;
    let mut ending = Ending::Complete;
    let mut registers = Vec::new();
    for (code, events) in program.compile().into_iter().zip(&key.threads) {
        let mut machine = Machine::new(code);
        let mut rounds: BTreeMap<usize, usize> = BTreeMap::new();
        for event in events {
            if machine.is_at_head() {
                *rounds.entry(machine.position()).or_default() += 1;
            }
            answer(&mut machine, event);
        }
        if machine.current() != Step::Done {
            ending = Ending::Blocked;
        }
        most = most.max(rounds.into_values().max().unwrap_or(0));
        registers.push(machine.registers().to_vec());
    }
    let last = |place: usize| match key.mo[place].last() {
        Some(at) => key.threads[at.thread as usize][at.index as usize].written.unwrap_or_default(),
        None => program.initial(place as u16),
    };
    let memory: Vec<Value> = (0..program.locations.len()).map(last).collect();
    (Outcome { ending, registers, memory }, most)
}

/// Gives a machine the answer that an event stands for.
fn answer(machine: &mut Machine, event: &KeyEvent) {
    let value = event.read.unwrap_or_default();
    match machine.current() {
        Step::Cas { .. } if event.kind == Kind::Read => machine.advance_spurious(value),
        Step::TryLock { .. } => machine.advance((event.kind == Kind::Update).into()),
        _ => machine.advance(value),
    }
}
