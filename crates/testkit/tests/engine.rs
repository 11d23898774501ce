//! The engine against the brute-force oracle, on programs that are data.

use std::path::Path;

use unpick_core::mutant::{self, Mutant};
use unpick_testkit::drive::{Settings, explore};
use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::litmus::load;
use unpick_testkit::{Model, Program, Random, bounded, compare, family, fibers, rounds, traces, waiting};

/// Random programs per profile.
const PROGRAMS: u64 = 300;

#[test]
fn random_programs_have_exactly_the_graphs_of_the_oracle() {
    for profile in Profile::ALL {
        let mut random = Random::new(7);
        for number in 0..PROGRAMS {
            let program = generate(profile, &mut random);
            if let Some(difference) = compare::difference(&program, number % 2 == 0) {
                panic!("{profile:?} {number}: {difference}");
            }
        }
    }
}

#[test]
fn litmus_tests_have_their_counts_in_every_order_of_threads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let tests = load(&folder).expect("the litmus folder can be read");
    assert!(tests.len() > 200, "only {} litmus files", tests.len());
    for (path, litmus) in tests {
        for (&model, expect) in &litmus.expect {
            // Families are large: one order of threads is enough, the small ones are permuted.
            let orders = if expect.complete > 1000 { 1 } else { litmus.program.threads.len() };
            for shift in 0..orders {
                let count = litmus.program.threads.len();
                let order: Vec<usize> = (0..count).map(|t| (t + shift) % count).collect();
                let found = explore(&litmus.program.permuted(&order), Settings::exact(model.name()));
                let counts = (found.complete, found.blocked, found.deadlock, found.racy, found.duplicates);
                let wanted = (expect.complete, expect.blocked, expect.deadlock, expect.racy, 0);
                assert_eq!(counts, wanted, "{} under {model}, order {order:?}", path.display());
            }
        }
    }
}

#[test]
fn families_have_their_counts() {
    let sizes = [
        ("ainc", 7),
        ("binc", 4),
        ("casrot", 9),
        ("casw", 5),
        ("wcas", 10),
        ("readers", 10),
        ("nw", 5),
        ("lastzero", 10),
        ("indexer", 13),
        ("wrw", 4),
        ("lockinc", 5),
    ];
    for (name, size) in sizes {
        let member = family::member(name, size).unwrap_or_else(|| panic!("no family {name}"));
        let mut known = 0;
        for model in Model::ALL {
            if let Some(complete) = member.complete(model) {
                let found = explore(&member.program, Settings::counting(model.name()));
                assert_eq!((found.complete, found.blocked), (complete, 0), "{name} {size} under {model}");
                known += 1;
            }
        }
        assert!(known > 0, "no count is known for {name} {size}");
    }
}

/// Whether some program shows that the mistake is made.
fn is_noticed(mutant: Mutant, profiles: &[Profile], differs: impl Fn(&Program) -> bool) -> bool {
    mutant::choose(Some(mutant));
    let noticed = profiles.iter().any(|&profile| {
        let mut random = Random::new(3);
        (0..4000).any(|_| differs(&generate(profile, &mut random)))
    });
    mutant::choose(None);
    noticed
}

/// Programs that random ones rarely come to.
const RARE: [&str; 2] = [
    // A round stores what is there, and releases less than the write before: a reader that is to have read that one would know more.
    "Wrlx z 1; Wrel x 1 || do{r1=Racq y; r0=Rrlx x; if(r0==1){Wrlx x 1}; let r0=0}until(r1==1) || \
     r0=Racq x; r1=Rrlx z; Wrel y r0",
    // The write before the round depends on who has read the round.
    "{x=1} a=Rrlx x; if(a==0){Wrlx y 1} || b=Rrlx y; if(b==1){Wrlx x 0} || Wrlx z 1 \
     || do{r=Rrlx z; if(r==0){Wrlx x 0}}until(r==1)",
];

/// The same with programs that have loops.
fn is_noticed_in_loops(mutant: Mutant, on_fibers: bool) -> bool {
    let mut random = Random::new(3);
    let known = RARE.into_iter().map(|text| Program::parse(text).expect("a program"));
    known.chain((0..1000).map(|_| waiting::generate(&mut random))).any(|program| {
        let Some(truths) = rounds::truths(&program, false) else { return false };
        let differs = |mutant| {
            mutant::choose(mutant);
            let difference = match on_fibers {
                true => fibers::difference_in_loops(&program, false, truths.clone()),
                false => {
                    rounds::difference_of(&program, false, &truths, |settings| explore(&program, settings))
                }
            };
            mutant::choose(None);
            difference
        };
        let noticed = differs(Some(mutant)).is_some();
        if noticed && let Some(difference) = differs(None) {
            panic!("{difference}");
        }
        noticed
    })
}

#[test]
fn every_known_mistake_is_noticed() {
    for mutant in Mutant::ALL {
        let by_graphs = |program: &Program| compare::difference(program, false).is_some();
        let by_bounds =
            |program: &Program| bounded::visits(program, Model::Sc).is_some_and(|visits| visits.is_err());
        let in_order = |program: &Program| {
            bounded::visits_in_order(program, Model::Cpp20).is_some_and(|visits| visits.is_err())
        };
        let by_traces = |program: &Program| traces::difference(program, false, 3000, &mut false).is_some();
        let noticed = match mutant {
            Mutant::LockRepairSkipped => is_noticed(mutant, &[Profile::Locks], by_graphs),
            Mutant::SeqCstFencesSkipped => is_noticed(mutant, &[Profile::Sc], by_graphs),
            Mutant::ChoiceMaximalitySkipped => {
                is_noticed(mutant, &[Profile::Mixed, Profile::Locks], by_graphs)
            }
            Mutant::BoundOnWholeGraphs => {
                is_noticed(mutant, &[Profile::Rmw, Profile::Atomics, Profile::Mixed], by_bounds)
            }
            Mutant::FreedLocksForgotten => is_noticed(mutant, &[Profile::Locks], in_order),
            Mutant::RoundChangesValue
            | Mutant::RoundIsObserved
            | Mutant::RoundHidesRelease
            | Mutant::NoSpareRounds
            | Mutant::RoundIsFollowed
            | Mutant::StaleReadsForEver
            | Mutant::ChoicesForEver => is_noticed_in_loops(mutant, false),
            // Programs of the library show these.
            Mutant::NumbersIgnored => continue,
            Mutant::RoundLeavesBytes | Mutant::AnswersIgnored | Mutant::FootprintIgnored => {
                is_noticed_in_loops(mutant, true)
            }
            Mutant::SleepingThreadAskedFor => is_noticed(mutant, &[Profile::Atomics], by_traces),
            Mutant::WaitersSkipped | Mutant::SleepersStayAsleep => {
                is_noticed(mutant, &[Profile::Locks], by_traces)
            }
            _ => is_noticed(mutant, &[Profile::Rmw, Profile::Atomics, Profile::Mixed], by_graphs),
        };
        assert!(noticed, "{mutant:?} goes unnoticed");
    }
}

#[test]
fn the_two_orders_of_nested_locks_and_their_deadlock_are_found() {
    let program = Program::parse("lock a; lock b; unlock b; unlock a || lock b; lock a; unlock a; unlock b");
    let found = explore(&program.expect("a program"), Settings::exact("cpp20"));
    assert_eq!((found.complete, found.blocked, found.deadlock), (2, 1, 1));
}
