//! Compares the search under bounds on preemptions with brute force.

use std::collections::{BTreeMap, BTreeSet};

use crate::drive::{Explored, Settings, explore};
use crate::preempt::Order;
use crate::{Key, Model, Options, Program, enumerate, preempt};

/// The bounds that are compared.
pub const BOUNDS: [u32; 4] = [0, 1, 2, 3];

/// Graphs at most, and states of brute force at most.
const MOST_GRAPHS: usize = 1_000;
const MOST_STATES: usize = 60_000;

/// How many graphs a program has, and what the search did with them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Visits {
    /// All graphs.
    pub all: u64,
    /// Graphs within each of the bounds.
    pub within: [u64; 4],
    /// Executions under each of the bounds, those beyond it included.
    pub visited: [u64; 4],
}

/// Every graph of a program with the fewest preemptions that lead to it; nothing if the program is
/// too large.
pub fn truth(program: &Program, model: Model, order: Order) -> Option<BTreeMap<Key, u32>> {
    if model == Model::Sc {
        return preempt::schedules(program, MOST_STATES);
    }
    let options = Options { models: vec![model], budget: 1_000_000, ..Options::default() };
    let keys = enumerate(program, &options).ok()?.remove(&model)?.keys;
    let count = |key: Key| (preempt::fewest(program, &key, order).unwrap_or(u32::MAX), key);
    (keys.len() <= MOST_GRAPHS)
        .then(|| keys.into_iter().map(count).map(|(fewest, key)| (key, fewest)).collect())
}

/// What the search under bounds does with a program; nothing if the program is too large.
///
/// # Errors
///
/// What it gets wrong, in words.
pub fn visits(program: &Program, model: Model) -> Option<Result<Visits, String>> {
    judge(program, model, false)
}

/// What the search does with a program that takes all but loads in order, as [`visits`]. It may come to a graph more
/// than once.
///
/// # Errors
///
/// What it gets wrong, in words.
pub fn visits_in_order(program: &Program, model: Model) -> Option<Result<Visits, String>> {
    judge(program, model, true)
}

fn judge(program: &Program, model: Model, in_order: bool) -> Option<Result<Visits, String>> {
    let truth = truth(program, model, if in_order { Order::Writes } else { Order::ReadsFrom })?;
    let mut visits = Visits { all: truth.len() as u64, ..Visits::default() };
    for (index, bound) in BOUNDS.into_iter().enumerate() {
        let wanted = truth.iter().filter(|(_, fewest)| **fewest <= bound).map(|(key, _)| key).collect();
        let settings = Settings { bound: Some(bound), in_order, ..Settings::exact(model.name()) };
        let found = explore(program, settings);
        visits.within[index] = found.keys.len() as u64;
        visits.visited[index] = found.complete + found.blocked + found.beyond + found.ended;
        if let Some(problem) = problem(&found, &wanted, visits.all, in_order) {
            return Some(Err(format!("{model}, at most {bound} preemptions: {program}\n{problem}")));
        }
        if in_order && explore(program, Settings { keeps_order: true, ..settings }) != found {
            return Some(Err(format!(
                "{model}, at most {bound} preemptions: repeated in order it differs: {program}"
            )));
        }
    }
    Some(Ok(visits))
}

fn problem(found: &Explored, wanted: &BTreeSet<&Key>, all: u64, in_order: bool) -> Option<String> {
    let keys: BTreeSet<&Key> = found.keys.iter().collect();
    let within = found.complete + found.blocked;
    let count = wanted.len() as u64;
    let once = in_order || (within == count && found.duplicates == 0);
    let met = if in_order { count } else { within + found.beyond };
    if keys == *wanted && once && (found.left_out > 0 || met == all) {
        return None;
    }
    let missing: Vec<String> = wanted.difference(&keys).take(5).map(|key| key.to_string()).collect();
    let extra: Vec<String> = keys.difference(wanted).take(5).map(|key| key.to_string()).collect();
    Some(format!(
        "found {} in {within} executions and {} beyond, left out {}, wanted {count} of {all}, duplicates {}\nmissing {missing:#?}\nextra {extra:#?}",
        keys.len(),
        found.beyond,
        found.left_out,
        found.duplicates
    ))
}
