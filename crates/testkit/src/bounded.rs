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
    let truth = truth(program, model, Order::ReadsFrom)?;
    let mut visits = Visits { all: truth.len() as u64, ..Visits::default() };
    for (index, bound) in BOUNDS.into_iter().enumerate() {
        let wanted = truth.iter().filter(|(_, fewest)| **fewest <= bound).map(|(key, _)| key).collect();
        let found = explore(program, Settings { bound: Some(bound), ..Settings::exact(model.name()) });
        visits.within[index] = found.complete + found.blocked;
        visits.visited[index] = found.complete + found.blocked + found.beyond;
        if let Some(problem) = problem(&found, &wanted, visits.all) {
            return Some(Err(format!("{model}, at most {bound} preemptions: {program}\n{problem}")));
        }
    }
    Some(Ok(visits))
}

fn problem(found: &Explored, wanted: &BTreeSet<&Key>, all: u64) -> Option<String> {
    let keys: BTreeSet<&Key> = found.keys.iter().collect();
    let within = found.complete + found.blocked;
    let total = found.left_out > 0 || within + found.beyond == all;
    if keys == *wanted && within == wanted.len() as u64 && found.duplicates == 0 && total {
        return None;
    }
    let missing: Vec<String> = wanted.difference(&keys).take(5).map(|key| key.to_string()).collect();
    let extra: Vec<String> = keys.difference(wanted).take(5).map(|key| key.to_string()).collect();
    Some(format!(
        "found {within} and {} beyond, left out {}, wanted {} of {all}, duplicates {}\nmissing {missing:#?}\nextra {extra:#?}",
        found.beyond,
        found.left_out,
        wanted.len(),
        found.duplicates
    ))
}

/// What the search does with a program that takes all but loads in order, as [`visits`].
///
/// # Errors
///
/// What it gets wrong, in words.
pub fn visits_in_order(program: &Program, model: Model) -> Option<Result<Visits, String>> {
    let truth = truth(program, model, Order::Writes)?;
    let mut visits = Visits { all: truth.len() as u64, ..Visits::default() };
    for (index, bound) in BOUNDS.into_iter().enumerate() {
        let wanted: BTreeSet<&Key> =
            truth.iter().filter(|(_, fewest)| **fewest <= bound).map(|(key, _)| key).collect();
        let settings = Settings { bound: Some(bound), in_order: true, ..Settings::exact(model.name()) };
        let found = explore(program, settings);
        let keys: BTreeSet<&Key> = found.keys.iter().collect();
        visits.within[index] = keys.len() as u64;
        visits.visited[index] = found.complete + found.blocked + found.beyond + found.ended;
        let total = found.left_out > 0 || wanted.len() == truth.len();
        if keys != wanted || !total {
            let missing: Vec<String> = wanted.difference(&keys).take(5).map(|key| key.to_string()).collect();
            let extra: Vec<String> = keys.difference(&wanted).take(5).map(|key| key.to_string()).collect();
            return Some(Err(format!(
                "{model}, at most {bound} preemptions: {program}\nfound {}, left out {}, wanted {} of {}\nmissing {missing:#?}\nextra {extra:#?}",
                keys.len(),
                found.left_out,
                wanted.len(),
                truth.len()
            )));
        }
    }
    Some(Ok(visits))
}
