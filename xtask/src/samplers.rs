//! Every sampler on every litmus test under every model: `cargo xtask fuzz-oracle --samplers`.
//!
//! Within so many runs each outcome that brute force finds must be seen, and no graph that it does not
//! find. Tests that brute force cannot do, and those with so many graphs that a sampler would need more
//! runs, are left out, and named.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use unpick_testkit::litmus::{self, Litmus};
use unpick_testkit::samples::{NAMES, reach};
use unpick_testkit::{Model, Options, enumerate};

use crate::Problem;

/// How far to go.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    /// Runs of each sampler.
    pub(crate) runs: u64,
    /// Graphs of a test under a model at most.
    pub(crate) graphs: u64,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    pub(crate) seconds: Option<u64>,
}

/// What has come out so far.
#[derive(Default)]
struct Tally {
    tests: usize,
    pairs: usize,
    outcomes: usize,
    slowest: u64,
    missed: Vec<String>,
    forbidden: Vec<String>,
    by_brute_force: Vec<String>,
    in_time: Vec<String>,
}

/// Judges all tests.
pub(crate) fn run(extent: Extent) -> Result<(), Problem> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../litmus");
    let tests = litmus::load(&folder).map_err(|error| error.to_string())?;
    let tests: Vec<Litmus> = tests.into_iter().map(|(_, test)| test).collect();
    let most = |test: &Litmus| test.expect.values().map(|e| e.complete + e.blocked).max().unwrap_or(0);
    let (small, large): (Vec<&Litmus>, Vec<&Litmus>) =
        tests.iter().partition(|test| test.by_oracle && most(test) <= extent.graphs);
    let tally = Mutex::new(Tally::default());
    let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..extent.threads.max(1) {
            scope.spawn(|| {
                while let Some(test) = small.get(next.fetch_add(1, Relaxed)) {
                    if extent.seconds.is_some_and(|most| started.elapsed() >= Duration::from_secs(most)) {
                        over.store(true, Relaxed);
                    }
                    judge(test, extent, over.load(Relaxed), &tally);
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let (unconfirmed, large): (Vec<&Litmus>, Vec<&Litmus>) = large.iter().partition(|test| !test.by_oracle);
    println!(
        "{} of {} litmus tests, {} models, {} samplers, {} runs each, seed {}, {:.0} s",
        tally.tests,
        tests.len(),
        Model::ALL.len(),
        NAMES.len(),
        extent.runs,
        extent.seed,
        started.elapsed().as_secs_f64(),
    );
    let names = |tests: &[&Litmus]| tests.iter().map(|test| test.name.clone()).collect::<Vec<_>>();
    let more = format!("more than {} graphs", extent.graphs);
    for (why, names) in [
        (more.as_str(), names(&large)),
        ("not by brute force", names(&unconfirmed)),
        ("too much for brute force", tally.by_brute_force),
        ("no time left", tally.in_time),
    ] {
        if !names.is_empty() {
            println!("left out, {why}: {} ({})", names.len(), names.join(", "));
        }
    }
    println!(
        "{} allowed outcomes of {} tests under a model, by each sampler: the last was seen in run {} at the latest",
        tally.outcomes, tally.pairs, tally.slowest
    );
    for line in tally.missed.iter().chain(&tally.forbidden) {
        println!("{line}");
    }
    println!("{} missed outcomes, {} forbidden graphs", tally.missed.len(), tally.forbidden.len());
    match tally.missed.is_empty() && tally.forbidden.is_empty() {
        true => Ok(()),
        false => Err(String::from("samplers miss what is above, or reach it although it is forbidden")),
    }
}

/// Judges one test, unless the time is up.
fn judge(test: &Litmus, extent: Extent, late: bool, tally: &Mutex<Tally>) {
    let note = |change: &dyn Fn(&mut Tally)| {
        change(&mut tally.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    };
    if late {
        return note(&|tally| tally.in_time.push(test.name.clone()));
    }
    let Ok(truths) = enumerate(&test.program, &Options::default()) else {
        return note(&|tally| tally.by_brute_force.push(test.name.clone()));
    };
    note(&|tally| tally.tests += 1);
    for (model, truth) in &truths {
        note(&|tally| {
            tally.pairs += 1;
            tally.outcomes += truth.outcomes.len();
        });
        for name in NAMES {
            let reached = reach(&test.program, *model, truth, name, extent.seed, extent.runs);
            note(&|tally| {
                let place = format!("{name} on {} under {model}", test.name);
                match reached.after {
                    Some(after) => tally.slowest = tally.slowest.max(after),
                    None => {
                        let (missed, all) = (reached.missed, truth.outcomes.len());
                        tally.missed.push(format!("{place}: {missed} of {all} outcomes missed"));
                    }
                }
                let forbidden = reached.forbidden.iter().map(|graph| format!("{place}: forbidden\n{graph}"));
                tally.forbidden.extend(forbidden);
            });
        }
    }
}
