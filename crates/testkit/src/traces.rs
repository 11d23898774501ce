//! Drives the strategies over traces, and compares what they find with brute force.

use std::collections::BTreeSet;

use unpick_checkers::race;
use unpick_core::execution::{Execution, Outcome};
use unpick_core::strategy::{Strategy, Traces};
use unpick_strategies::research::trace::{Method, Trace};

use crate::drive::{self, Settings, key, run};
use crate::interleave::{Orders, orders};
use crate::{Key, Machine, Model, Options, Program, enumerate};

/// What a strategy over traces has found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Its own counts.
    pub traces: Traces,
    /// Traces that were run to their end.
    pub complete: u64,
    /// Traces that it gave up.
    pub stuck: u64,
    /// The graphs of the former.
    pub keys: BTreeSet<Key>,
    /// Traces with a data race.
    pub racy: u64,
}

/// Runs a program under a strategy over traces, to the end.
///
/// # Panics
///
/// When the engine finds the program not to repeat itself.
pub fn explore(program: &Program, method: Method, bound: Option<u32>, spurious: bool) -> Found {
    let strategy: Box<dyn Strategy> = Box::new(Trace::new(method, bound, spurious));
    let model = unpick_models::by_name("cpp20").expect("a known memory model");
    let mut execution = Execution::new(model, strategy, usize::MAX);
    let mut machines: Vec<Machine> = program.compile().into_iter().map(Machine::new).collect();
    let mut found = Found::default();
    let mut bound = None;
    loop {
        let outcome = run(&mut execution, program, &mut machines);
        let traces = execution.strategy().traces().unwrap_or_default();
        if traces.bound != bound {
            // Each bound starts anew.
            found = Found::default();
            bound = traces.bound;
        }
        let graph = execution.graph();
        found.racy += u64::from(race::in_graph(graph).is_some());
        match &outcome {
            Outcome::Complete | Outcome::Blocked(_) => {
                found.complete += 1;
                found.keys.insert(key(graph, program));
            }
            Outcome::Ended => found.stuck += 1,
            other => panic!("unexpected outcome {other:?} of {program}"),
        }
        if !execution.advance() {
            found.traces = execution.strategy().traces().unwrap_or_default();
            return found;
        }
    }
}

/// The bounds that are compared.
const BOUNDS: std::ops::RangeInclusive<u32> = 0..=3;

/// What the strategies over traces get wrong about a program, in words; `None` as well when it is too
/// large for brute force, which `judged` then says.
pub fn difference(program: &Program, spurious: bool, most: u64, judged: &mut bool) -> Option<String> {
    let truth = orders(program, spurious, most).ok()?;
    let options = Options { models: vec![Model::Sc], spurious, keys: true, ..Options::default() };
    let oracle = enumerate(program, &options).ok()?.remove(&Model::Sc)?;
    *judged = true;
    if !truth.graphs.keys().eq(&oracle.keys) {
        return Some(format!("{program}\nthe two kinds of brute force differ"));
    }
    let by_trace = Method::ALL.into_iter().find_map(|method| differs(program, spurious, method, &truth));
    let mut bounds = BOUNDS;
    by_trace.or_else(|| bounds.find_map(|bound| bounded_differs(program, spurious, bound, &truth)))
}

/// What the search over graphs gets wrong under a bound: it must have just the graphs that the bounded
/// strategies over traces lead to.
fn bounded_differs(program: &Program, spurious: bool, bound: u32, truth: &Orders) -> Option<String> {
    let settings = Settings { bound: Some(bound), spurious, ..Settings::exact("sc") };
    let found = drive::explore(program, settings).keys;
    let wanted: BTreeSet<Key> = truth.graphs_within(bound).cloned().collect();
    let missing: Vec<String> = wanted.difference(&found).take(3).map(Key::to_string).collect();
    let extra: Vec<String> = found.difference(&wanted).take(3).map(Key::to_string).collect();
    (found != wanted)
        .then(|| format!("optimal within {bound}: {program}\nmissing {missing:#?}\nextra {extra:#?}"))
}

/// What one strategy gets wrong.
fn differs(program: &Program, spurious: bool, method: Method, truth: &Orders) -> Option<String> {
    let name = method.name();
    let tell = |bound: Option<u32>, problem: String| Some(format!("{name} {bound:?}: {program}\n{problem}"));
    let check = |bound: Option<u32>| {
        let found = explore(program, method, bound, spurious);
        let wanted: BTreeSet<Key> = truth.graphs_within(bound.unwrap_or(u32::MAX)).cloned().collect();
        let counts = (found.traces.complete, found.traces.stuck, found.traces.classes);
        let seen = (found.complete, found.stuck, found.keys.len() as u64);
        if counts != seen {
            return tell(bound, format!("it says {counts:?}, but ran {seen:?}"));
        }
        let selective = method == Method::ChessAtomic;
        let missing: Vec<String> = wanted.difference(&found.keys).take(3).map(Key::to_string).collect();
        let extra = found.keys.difference(&wanted).take(3).map(Key::to_string);
        if !missing.is_empty() && !selective || extra.clone().next().is_some() {
            return tell(bound, format!("missing {missing:#?}\nextra {:#?}", extra.collect::<Vec<_>>()));
        }
        let all = truth.within(bound.unwrap_or(u32::MAX));
        let exact = method == Method::Chess;
        if found.complete > all || (exact && found.complete != all) {
            return tell(bound, format!("{} traces, and there are {all}", found.complete));
        }
        if bound.is_none() && (found.traces.cut || !selective && truth.races && found.racy == 0) {
            return tell(bound, format!("cut {}, races {}", found.traces.cut, found.racy));
        }
        let left_out = bound.is_some_and(|bound| truth.graphs.values().any(|&fewest| fewest > bound));
        if left_out && !found.traces.cut && !selective {
            return tell(bound, String::from("something was left out, and it does not say so"));
        }
        None
    };
    let bounds = BOUNDS.filter(|_| method.is_bounded()).map(Some);
    bounds.chain([None]).find_map(check)
}
