//! Samplers against exact probabilities, and against the outcomes that brute force finds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use unpick_core::event::EventId;
use unpick_core::execution::Outcome;
use unpick_core::graph::Graph;
use unpick_core::op::ThreadId;
use unpick_core::schedule::Schedule;
use unpick_core::strategy::Strategy;
use unpick_strategies::sample::names::{self, Settings};
use unpick_testkit::drive::{key, replay, sample};
use unpick_testkit::samples::{NAMES, by_name};
use unpick_testkit::{Options, Program, enumerate, litmus};

fn sampler(name: &str, seed: u64) -> Box<dyn Strategy> {
    let settings = Settings { seed, spurious: false };
    match name {
        "pct:1" => names::pct(Some(1), settings),
        "pct:2" => names::pct(Some(2), settings),
        "pct:3" => names::pct(Some(3), settings),
        _ => by_name(name, settings),
    }
}

fn program(text: &str) -> Program {
    Program::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Runs after which a sampler knows how long a program is.
const WARM: u64 = 64;

/// The share of runs, after the first ones, in which `hit` holds.
fn rate(program: &Program, name: &str, runs: u64, hit: impl Fn(&Graph, &Outcome) -> bool) -> f64 {
    let (mut number, mut hits) = (0, 0u64);
    sample(program, "sc", sampler(name, 1), WARM + runs, |graph, outcome, _| {
        number += 1;
        hits += u64::from(number > WARM && hit(graph, outcome));
    });
    hits as f64 / runs as f64
}

/// Whether the read at this place in a thread of the program sees the initial value.
fn sees_initial(graph: &Graph, thread: u32, index: usize) -> bool {
    graph.event(EventId::new(ThreadId(thread + 1), index)).rf.is_init()
}

#[test]
fn bugs_are_hit_as_often_as_they_should() {
    let locals: String = (0..9).map(|i| format!("Rrlx l{i}; ")).collect();
    let lost = program("a=Rrlx x; Wrlx x 1 || b=Rrlx x; Wrlx x 2");
    let late = program(&format!("Wrlx x 1 || {locals} a=Rrlx x"));
    let racing = program(&format!("Wrlx x 1 || {} Rrlx x", "Rrlx x; ".repeat(9)));
    let abba = program("lock a; lock b; unlock b; unlock a || lock b; lock a; unlock a; unlock b");
    // The exact probabilities of walks and of POS; those of PCT are means of 50,000 runs of a reference.
    type Hit = fn(&Graph, &Outcome) -> bool;
    let both: Hit = |graph, _| sees_initial(graph, 0, 0) && sees_initial(graph, 1, 0);
    let last: Hit = |graph, _| sees_initial(graph, 1, 9);
    let dead: Hit = |_, outcome| matches!(outcome, Outcome::Blocked(_));
    let table: [(&Program, Hit, [f64; 6]); 4] = [
        (&lost, both, [1.0 / 2.0, 2.0 / 3.0, 0.0, 0.251, 0.440, 1.0 / 3.0]),
        (&late, last, [1.0 / 1024.0, 1.0 / 11.0, 0.50, 0.090, 0.017, 1.0 / 11.0]),
        (&racing, last, [1.0 / 1024.0, 1.0 / 11.0, 0.50, 0.090, 0.017, 1.0 / 1024.0]),
        (&abba, dead, [1.0 / 2.0, 4.0 / 7.0, 0.0, 0.126, 0.236, 1.0 / 3.0]),
    ];
    let names = ["random", "urw", "pct:1", "pct:2", "pct:3", "pos"];
    let runs = 20_000;
    for (program, hit, expected) in table {
        for (name, expected) in names.into_iter().zip(expected) {
            let measured = rate(program, name, runs, hit);
            let reference = if name.starts_with("pct") { 1.0 / 50_000.0 } else { 0.0 };
            let deviation = (expected * (1.0 - expected) * (1.0 / runs as f64 + reference)).sqrt();
            // Printed to three digits.
            let rounding = if name.starts_with("pct") { 0.0005 } else { 0.0 };
            assert!(
                (measured - expected).abs() <= 5.0 * deviation + rounding,
                "{name} on {program}: {measured}, expected {expected}"
            );
        }
    }
}

/// How often each order of the accesses of two threads was drawn.
fn orders(program: &Program, name: &str, runs: u64) -> BTreeMap<Vec<u32>, u64> {
    let mut counts = BTreeMap::new();
    let mut number = 0;
    sample(program, "sc", sampler(name, 2), WARM + runs, |graph, _, _| {
        number += 1;
        let accesses =
            graph.order().iter().filter(|&&id| graph.event(id).is_read() || graph.event(id).is_write());
        let order: Vec<u32> = accesses.map(|id| id.thread.0).collect();
        *counts.entry(order).or_insert(0) += u64::from(number > WARM);
    });
    counts
}

/// The sum of squared deviations from what is expected.
fn chi_square(counts: &BTreeMap<Vec<u32>, u64>, expected: impl Fn(&[u32]) -> f64) -> f64 {
    counts.iter().map(|(order, &count)| (count as f64 - expected(order)).powi(2) / expected(order)).sum()
}

/// Five degrees of freedom: more than this comes up once in 100,000 times.
const UNLIKELY: f64 = 30.9;

#[test]
fn weighted_walks_draw_all_interleavings_alike() {
    let program = program("Rrlx x; Wrlx x 1 || Rrlx x; Wrlx x 2");
    for name in ["urw", "surw"] {
        let counts = orders(&program, name, 30_000);
        assert_eq!(counts.len(), 6);
        let chi = chi_square(&counts, |_| 5_000.0);
        assert!(chi < UNLIKELY, "{name}: {chi} {counts:?}");
    }
    let counts = orders(&program, "random", 32_000);
    let chi = chi_square(&counts, |order| if order[0] == order[1] { 8_000.0 } else { 4_000.0 });
    assert!(chi < UNLIKELY, "random: {chi} {counts:?}");
}

/// The selective walk draws the orders of the accesses to one location alike, however much else there is.
#[test]
fn the_selective_walk_draws_orders_at_a_location_alike() {
    let program = program("Wrlx x 1; Wrlx x 2 || Rrlx l; Rrlx l; Rrlx l; Rrlx l; Rrlx l; Wrlx x 3; Wrlx x 4");
    let mut counts = BTreeMap::new();
    let mut number = 0;
    sample(&program, "sc", sampler("surw", 5), WARM + 30_000, |graph, _, _| {
        number += 1;
        let order: Vec<u32> = graph.writes(unpick_core::op::Addr(0)).iter().map(|id| id.thread.0).collect();
        *counts.entry(order).or_insert(0) += u64::from(number > WARM);
    });
    assert_eq!(counts.len(), 6);
    let chi = chi_square(&counts, |_| 5_000.0);
    assert!(chi < UNLIKELY, "{chi} {counts:?}");
}

/// Litmus tests that are small enough for a test.
fn tests(most: u64) -> Vec<litmus::Litmus> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let all = litmus::load(&folder).expect("the litmus folder can be read").into_iter().map(|(_, test)| test);
    all.filter(|test| test.by_oracle && test.expect.values().all(|e| e.complete + e.blocked <= most))
        .collect()
}

#[test]
fn allowed_outcomes_are_reached_and_forbidden_ones_never() {
    let mut reached = 0;
    for (number, test) in tests(40).into_iter().enumerate() {
        let name = NAMES[number % NAMES.len()];
        let truths = enumerate(&test.program, &Options::default()).expect("a small program");
        for (model, truth) in truths {
            let mut missing: BTreeSet<_> = truth.outcomes.clone();
            let mut runs = 0;
            while !missing.is_empty() && runs < 10_000 {
                runs += 500;
                sample(&test.program, model.name(), sampler(name, runs), 500, |graph, _, observed| {
                    let key = key(graph, &test.program);
                    assert!(truth.keys.contains(&key), "{name} on {} under {model}: {key}", test.name);
                    missing.remove(&observed());
                });
            }
            assert!(missing.is_empty(), "{name} on {} under {model}: {missing:?}", test.name);
            reached += truth.outcomes.len();
        }
    }
    assert!(reached > 500, "{reached}");
}

#[test]
fn the_same_seed_gives_the_same_runs() {
    let program =
        program("a=Rrlx x; Wrel y 1; b=Rsc z || c=Racq y; Wrlx x 1; Wsc z 2 || FADDar x 1; d=Rrlx y");
    for name in NAMES {
        let trace = |seed| {
            let mut trace = Vec::new();
            sample(&program, "cpp20", sampler(name, seed), 200, |graph, _, _| {
                trace.push((graph.order().to_vec(), key(graph, &program)));
            });
            trace
        };
        assert_eq!(trace(3), trace(3), "{name}");
        assert_ne!(trace(3), trace(4), "{name}");
    }
}

#[test]
fn what_is_drawn_can_be_replayed() {
    for test in tests(100).into_iter().step_by(7) {
        for name in NAMES {
            sample(&test.program, "cpp20", sampler(name, 6), 20, |graph, _, _| {
                let schedule = Schedule::new(graph, graph.order(), 0);
                let again = replay(&test.program, "cpp20", &schedule);
                assert_eq!(again, Some(key(graph, &test.program)), "{name} on {}", test.name);
            });
        }
    }
}
