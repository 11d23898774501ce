//! The search under a bound on preemptions, against brute force and published numbers.

use std::path::Path;

use unpick_testkit::bounded::{BOUNDS, Visits, truth, visits, visits_in_order};
use unpick_testkit::drive::{Settings, explore};
use unpick_testkit::generate::{Profile, crowd, generate};
use unpick_testkit::litmus::load;
use unpick_testkit::preempt::Order;
use unpick_testkit::{Model, Program, Random, preempt};

/// Random programs of each kind.
const PROGRAMS: u64 = 12;

/// Calls `check` on random programs of every kind.
fn on_random_programs(mut check: impl FnMut(&Program)) {
    for number in 0..PROGRAMS {
        for profile in Profile::ALL {
            check(&generate(profile, &mut Random::new(number)));
        }
        check(&crowd(9, &mut Random::new(number)));
    }
}

/// The graphs within 0, 1, ... preemptions, as the engine counts them and as brute force does.
fn counts(program: &Program, bounds: usize) -> Vec<u64> {
    let truth = truth(program, Model::Sc, Order::ReadsFrom).expect("a small program");
    let bounds = BOUNDS.into_iter().take(bounds);
    let count = |bound: u32| {
        let found = explore(program, Settings { bound: Some(bound), ..Settings::counting("sc") });
        let wanted = truth.values().filter(|&&fewest| fewest <= bound).count() as u64;
        assert_eq!(found.complete + found.blocked, wanted, "at most {bound}: {program}");
        wanted
    };
    bounds.map(count).collect()
}

/// How many random programs were small enough to be judged, and in how many of them something was left out.
fn judged(visits: fn(&Program, Model) -> Option<Result<Visits, String>>, model: Model) -> (u64, u64) {
    let (mut judged, mut fewer) = (0, 0);
    on_random_programs(|program| match visits(program, model) {
        Some(Ok(visits)) => {
            judged += 1;
            fewer += u64::from(visits.visited[0] < visits.all);
        }
        Some(Err(problem)) => panic!("{problem}"),
        None => {}
    });
    assert!(judged > PROGRAMS * 7, "{model}: only {judged} programs");
    (judged, fewer)
}

#[test]
fn random_programs_have_exactly_the_graphs_within_each_bound() {
    for model in [Model::Sc, Model::Cpp20, Model::Tso] {
        let (judged, fewer) = judged(visits, model);
        assert!(fewer > judged / 8, "{model}: fewer graphs in {fewer} of {judged} programs only");
    }
}

#[test]
fn random_programs_have_exactly_the_executions_in_order_within_each_bound() {
    for model in [Model::Cpp20, Model::Rc11, Model::Ra] {
        let (judged, fewer) = judged(visits_in_order, model);
        assert!(fewer > judged / 3, "{model}: fewer executions in {fewer} of {judged} programs only");
    }
}

#[test]
fn the_two_ways_of_brute_force_agree() {
    on_random_programs(|program| {
        for (key, fewest) in preempt::schedules(program, 60_000).unwrap_or_default() {
            assert_eq!(preempt::fewest(program, &key, Order::Memory), Some(fewest), "{program}\n{key}");
        }
    });
}

#[test]
fn published_counts_within_bounds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let tests = load(&folder).expect("the litmus folder can be read");
    let published: [(&str, &[u64]); 10] = [
        ("SB", &[2, 3]),
        ("2+2W", &[2, 3]),
        ("CoRR", &[2, 4, 6]),
        ("CoRR1", &[18, 36]),
        ("CoRR2", &[18, 54, 72]),
        ("IRIW-acq-sc", &[14, 15]),
        ("IRIWish", &[18, 27]),
        ("JLT", &[4, 8]),
        ("2CoWR", &[4]),
        ("LB", &[2, 3]),
    ];
    for (name, wanted) in published {
        let found = tests.iter().find(|(_, litmus)| litmus.name == format!("genmc {name}"));
        let (_, litmus) = found.unwrap_or_else(|| panic!("there is no {name}"));
        assert_eq!(counts(&litmus.program, wanted.len()), wanted, "{name}");
    }
}

#[test]
fn known_counts_within_bounds() {
    let lock = "lock l; a=Rrlx x; Wrlx x a+1; unlock l";
    let known: [(String, &[u64]); 4] = [
        (["Rrlx x; Wrlx x 1"; 3].join(" || "), &[6, 24, 36, 36]),
        ([lock; 3].join(" || "), &[6, 6]),
        // The example of the thesis on bounded search, with each access a step.
        (
            "Wrlx w 1; Wrlx y 3; Wrlx x 2 || Rrlx z; Wrlx y 5; Rrlx y; Wrlx x 6 || Wrlx z 4".into(),
            &[4, 10, 12, 12],
        ),
        // A deadlock needs a preemption between the two locks.
        ("lock l; lock m; unlock m; unlock l || lock m; lock l; unlock l; unlock m".into(), &[2, 3]),
    ];
    for (text, wanted) in known {
        let program = Program::parse(&text).expect("a program");
        assert_eq!(counts(&program, wanted.len()), wanted, "{text}");
    }
}

/// What a smaller bound on whole graphs would lose: events on the way that are dropped later.
#[test]
fn graphs_that_are_reached_only_through_dearer_ones() {
    for text in [
        "Rrlx x; Rrlx y || Wrlx x 1; Wrlx y 2 || Wrlx y 3",
        "Wrlx y 3; CASrlx x 0 1 || Wrlx y 2; Wrlx x 1; CASrlx x 1 1 || Rrlx y; Wrlx x 1; CASrlx x 3 3",
        "Rrlx x; Wrlx y 2 || Rrlx x; FADDrlx y 9 || FADDrlx x 15; Rrlx y || FADDrlx y 22; Rrlx y || Rrlx x; FADDrlx y 30",
    ] {
        let program = Program::parse(text).expect("a program");
        for model in [Model::Sc, Model::Cpp20] {
            if let Some(Err(problem)) = visits(&program, model) {
                panic!("{problem}");
            }
        }
    }
}
