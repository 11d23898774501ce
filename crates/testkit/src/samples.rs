//! Samplers against brute force: what they reach, and that they reach nothing else.

use std::collections::BTreeSet;

use unpick_core::strategy::Strategy;
use unpick_strategies::sample::names::{self, Settings};

use crate::drive::{key, sample};
use crate::oracle::Truth;
use crate::{Model, Program};

/// The samplers.
pub const NAMES: [&str; 7] = ["random", "urw", "surw", "pct", "pos", "greybox", "digest"];

/// The sampler of this name, which is one of [`NAMES`].
///
/// # Panics
///
/// When there is none.
pub fn by_name(name: &str, settings: Settings) -> Box<dyn Strategy> {
    match name {
        "random" => names::random(settings),
        "urw" => names::urw(settings),
        "surw" => names::surw(settings),
        "pct" => names::pct(None, settings),
        "pos" => names::pos(settings),
        "greybox" => names::greybox(settings),
        "digest" => names::digest(settings),
        _ => panic!("no sampler {name}"),
    }
}

/// What a sampler did with a program under a model.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// Runs after which every allowed outcome had been seen; `None` if one was not.
    pub after: Option<u64>,
    /// Outcomes that are allowed and were not seen.
    pub missed: usize,
    /// A graph that the model forbids.
    pub forbidden: Option<String>,
}

/// Lets a sampler run so many times, and compares what it reaches with the truth.
pub fn reach(program: &Program, model: Model, truth: &Truth, name: &str, seed: u64, runs: u64) -> Reached {
    let mut missing: BTreeSet<_> = truth.outcomes.clone();
    let mut reached = Reached::default();
    let mut number = 0;
    let strategy = by_name(name, Settings { seed, spurious: false });
    sample(program, model.name(), strategy, runs, |graph, _, observed| {
        number += 1;
        let key = key(graph, program);
        if reached.forbidden.is_none() && !truth.keys.contains(&key) {
            reached.forbidden = Some(key.to_string());
        }
        if !missing.is_empty() {
            missing.remove(&observed());
            if missing.is_empty() {
                reached.after = Some(number);
            }
        }
    });
    reached.missed = missing.len();
    reached
}
