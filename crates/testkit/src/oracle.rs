//! Every consistent graph of a small program, by brute force.
//!
//! All combinations of thread traces, times all coherent `mo` and `rf` at each place, filtered by
//! the axioms of each model. Pruned only by what holds in every model: values come from writes
//! (`trace`), each place is coherent (`places`), and `po ∪ rf` has no cycle. The rule: a graph counts
//! when every thread is done, stands at a false `assume`, or waits for a lock that the last write to
//! its word left taken. What holds of programs with loops is in `rounds`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::axioms::{Derived, Graph, INIT};
use crate::key::{EventAt, Key, KeyEvent, Kind, Source};
use crate::model::Model;
use crate::places::{Solution, solutions};
use crate::program::{Mode, Program, Value};
use crate::relation::Relation;
use crate::trace::{End, Event, Trace, Traces};

/// The program is too large to enumerate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the program is too large to enumerate: use fewer events or raise the budget")
    }
}

impl std::error::Error for TooLarge {}

/// What to enumerate.
#[derive(Clone, Debug)]
pub struct Options {
    /// The models to judge by.
    pub models: Vec<Model>,
    /// Whether a weak compare-and-swap may fail although it reads the expected value.
    pub spurious: bool,
    /// Whether to collect the keys of the graphs.
    pub keys: bool,
    /// How many steps of the search to take before giving up.
    pub budget: u64,
}

impl Default for Options {
    /// All models, no spurious failures, with keys.
    fn default() -> Options {
        Options { models: Model::ALL.to_vec(), spurious: false, keys: true, budget: 10_000_000 }
    }
}

/// How a graph ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ending {
    /// All threads are done.
    Complete,
    /// Some thread stands at a false `assume`.
    Blocked,
    /// All threads that are not done wait for locks.
    Deadlock,
}

/// What a program can observe in the end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome {
    /// How the graph ends.
    pub ending: Ending,
    /// The registers of each thread.
    pub registers: Vec<Vec<Value>>,
    /// The last value of each location; locks are left out.
    pub memory: Vec<Value>,
}

/// All graphs of a program under one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Graphs in which all threads are done.
    pub complete: u64,
    /// All other graphs, deadlocks included.
    pub blocked: u64,
    /// Blocked graphs in which all unfinished threads wait for locks.
    pub deadlock: u64,
    /// Graphs, complete or blocked, with a data race.
    pub racy: u64,
    /// The outcomes of all graphs.
    pub outcomes: BTreeSet<Outcome>,
    /// The keys of all graphs, when asked for.
    pub keys: BTreeSet<Key>,
}

/// The graphs of `program` under each of the models asked for.
pub fn enumerate(program: &Program, options: &Options) -> Result<BTreeMap<Model, Truth>, TooLarge> {
    assert!(!program.has_loops(), "graphs of programs with loops are not all listed: {program}");
    let mut truths: BTreeMap<Model, Truth> =
        options.models.iter().map(|&model| (model, Truth::default())).collect();
    let judge = &mut |candidates: &Candidates<'_>, graph: &Graph, chosen: &[usize]| {
        judge(program, options, &mut truths, candidates, graph, chosen);
    };
    each_graph(program, options.spurious, 0, options.budget, judge)?;
    Ok(truths)
}

/// Shows every candidate graph without a cycle in `po ∪ rf`. Threads go round loops so many times at most.
pub(crate) fn each_graph(
    program: &Program,
    spurious: bool,
    rounds: usize,
    mut budget: u64,
    judge: &mut Judge<'_>,
) -> Result<(), TooLarge> {
    let mut oracle = Oracle { program, judge };
    Traces::combinations(program, spurious, rounds, &mut budget, &mut |traces, budget| {
        oracle.graphs(traces, budget)
    })
}

/// What to do with a candidate graph, given the solutions that were chosen.
type Judge<'j> = dyn FnMut(&Candidates<'_>, &Graph, &[usize]) + 'j;

struct Oracle<'p, 'j> {
    program: &'p Program,
    judge: &'j mut Judge<'j>,
}

impl Oracle<'_, '_> {
    /// Every graph with these traces.
    fn graphs(&mut self, traces: &[&Trace], budget: &mut u64) -> Result<(), TooLarge> {
        let mut events = Vec::new();
        let mut positions = Vec::new();
        let accessed = traces.iter().flat_map(|trace| &trace.events);
        let accessed = accessed.filter(|event| event.reads() || event.writes()).map(|event| event.place);
        let waited = traces.iter().filter_map(|trace| match trace.end {
            End::Waits(word) => Some(word),
            _ => None,
        });
        let waited: BTreeSet<u16> = waited.collect();
        let used: BTreeSet<u16> = accessed.chain(waited.iter().copied()).collect();
        for &place in &used {
            let written = self.program.initial(place);
            events.push(Event {
                kind: Kind::Write,
                place,
                mode: Mode::Plain,
                read: 0,
                written,
                free: false,
                waits: false,
            });
            positions.push((INIT, 0));
        }
        for (thread, trace) in traces.iter().enumerate() {
            let memory = trace.events.iter().enumerate().filter(|(_, event)| event.kind != Kind::Choice);
            for (index, event) in memory {
                events.push(*event);
                positions.push((thread, index));
            }
        }
        if events.len() > 64 {
            return Err(TooLarge);
        }
        let mut graph = Graph::new(events, positions.iter().map(|position| position.0).collect());
        let mut per_place = Vec::new();
        for place in used {
            let found = solutions(&graph, place, waited.contains(&place), budget)?;
            if found.is_empty() {
                return Ok(());
            }
            per_place.push(found);
        }
        let candidates = Candidates { traces, positions: &positions, per_place: &per_place };
        let porf = graph.po;
        self.product(&candidates, &mut graph, porf, &mut Vec::new(), budget)
    }

    /// Every choice of one solution per place without a cycle in `po ∪ rf`.
    fn product(
        &mut self,
        candidates: &Candidates<'_>,
        graph: &mut Graph,
        porf: Relation,
        chosen: &mut Vec<usize>,
        budget: &mut u64,
    ) -> Result<(), TooLarge> {
        let Some(place) = candidates.per_place.get(chosen.len()) else {
            (self.judge)(candidates, graph, chosen);
            return Ok(());
        };
        let (rf, mo) = (graph.rf, graph.mo);
        for (index, solution) in place.iter().enumerate() {
            *budget = budget.checked_sub(1).ok_or(TooLarge)?;
            let mut ordered = porf;
            for &(read, write) in &solution.sources {
                ordered.add(write, read);
                graph.rf.add(write, read);
            }
            let ordered = ordered.closure();
            if ordered.irreflexive() {
                for (position, &write) in solution.order.iter().enumerate() {
                    solution.order[position + 1..].iter().for_each(|&later| graph.mo.add(write, later));
                }
                chosen.push(index);
                self.product(candidates, graph, ordered, chosen, budget)?;
                chosen.pop();
            }
            (graph.rf, graph.mo) = (rf, mo);
        }
        Ok(())
    }
}

/// Asks each model, and records the graph where it is accepted.
fn judge(
    program: &Program,
    options: &Options,
    truths: &mut BTreeMap<Model, Truth>,
    candidates: &Candidates<'_>,
    graph: &Graph,
    chosen: &[usize],
) {
    let derived = Derived::of(graph);
    let mut described: Option<(Outcome, Key)> = None;
    for (&model, truth) in truths {
        if !derived.consistent(model) {
            continue;
        }
        let (outcome, key) = described.get_or_insert_with(|| {
            let outcome = candidates.outcome(program, graph, chosen);
            let key = if options.keys { candidates.key(program, graph, chosen) } else { Key::default() };
            (outcome, key)
        });
        match outcome.ending {
            Ending::Complete => truth.complete += 1,
            Ending::Blocked => truth.blocked += 1,
            Ending::Deadlock => {
                truth.blocked += 1;
                truth.deadlock += 1;
            }
        }
        truth.racy += u64::from(derived.racy(model));
        if !truth.outcomes.contains(outcome) {
            truth.outcomes.insert(outcome.clone());
        }
        if options.keys {
            truth.keys.insert(key.clone());
        }
    }
}

/// One combination of traces with the solutions of each place.
pub(crate) struct Candidates<'t> {
    pub(crate) traces: &'t [&'t Trace],
    /// Thread and index within it of each event of the graph.
    pub(crate) positions: &'t [(usize, usize)],
    per_place: &'t [Vec<Solution>],
}

impl Candidates<'_> {
    pub(crate) fn chosen<'s>(&'s self, chosen: &'s [usize]) -> impl Iterator<Item = &'s Solution> {
        self.per_place.iter().zip(chosen).map(|(solutions, &index)| &solutions[index])
    }

    pub(crate) fn outcome(&self, program: &Program, graph: &Graph, chosen: &[usize]) -> Outcome {
        let mut memory: Vec<Value> = program.locations.iter().map(|location| location.init).collect();
        for solution in self.chosen(chosen) {
            let last = &graph.events[*solution.order.last().expect("the initial write is always there")];
            if let Some(value) = memory.get_mut(last.place as usize) {
                *value = last.written;
            }
        }
        let ending = if self.traces.iter().all(|trace| trace.end == End::Done) {
            Ending::Complete
        } else if self.traces.iter().any(|trace| trace.end == End::Assume) {
            Ending::Blocked
        } else {
            Ending::Deadlock
        };
        let registers = self.traces.iter().map(|trace| trace.registers().to_vec()).collect();
        Outcome { ending, registers, memory }
    }

    pub(crate) fn key(&self, program: &Program, graph: &Graph, chosen: &[usize]) -> Key {
        let describe = |event: &Event| KeyEvent {
            kind: event.kind,
            place: (event.reads() || event.writes()).then_some(event.place),
            read: (event.reads() || event.kind == Kind::Choice).then_some(event.read),
            written: event.writes().then_some(event.written),
            rf: None,
        };
        let events = |trace: &&Trace| trace.events.iter().map(describe).collect();
        let mut threads: Vec<Vec<KeyEvent>> = self.traces.iter().map(events).collect();
        let mut mo = vec![Vec::new(); program.places()];
        let at = |event: usize| {
            let (thread, index) = self.positions[event];
            EventAt { thread: thread as u16, index: index as u16 }
        };
        for solution in self.chosen(chosen) {
            for &(read, write) in &solution.sources {
                let source =
                    if self.positions[write].0 == INIT { Source::Init } else { Source::Event(at(write)) };
                let (thread, index) = self.positions[read];
                threads[thread][index].rf = Some(source);
            }
            let place = graph.events[solution.order[0]].place as usize;
            mo[place] = solution.order[1..].iter().map(|&write| at(write)).collect();
        }
        Key { threads, mo }
    }
}
