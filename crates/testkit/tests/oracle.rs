//! The oracle against reasoning: small cases by hand, and laws on random programs.

use std::collections::BTreeMap;

use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::oracle::Ending;
use unpick_testkit::{Model, Options, Program, Random, TooLarge, Truth, enumerate};

fn truths(source: &str) -> BTreeMap<Model, Truth> {
    let program = Program::parse(source).expect("the test is a program");
    enumerate(&program, &Options::default()).expect("the test is small")
}

/// Complete, blocked, deadlocked and racy graphs.
fn counts(truth: &Truth) -> (u64, u64, u64, u64) {
    (truth.complete, truth.blocked, truth.deadlock, truth.racy)
}

/// Calls `check` on random programs of every profile.
fn on_random_programs(per_profile: u64, mut check: impl FnMut(&Program, &BTreeMap<Model, Truth>)) {
    for profile in Profile::ALL {
        for seed in 0..per_profile {
            let program = generate(profile, &mut Random::new(seed));
            let truths = enumerate(&program, &Options::default());
            check(&program, &truths.expect("generated programs are small"));
        }
    }
}

#[test]
fn message_passing_races_only_without_release() {
    let good = truths("Wna x 1; Wrel y 1 || a=Racq y; if(a==1){b=Rna x}");
    assert_eq!(counts(&good[&Model::Rc11]), (2, 0, 0, 0));
    let bad = truths("Wna x 1; Wrlx y 1 || a=Rrlx y; if(a==1){b=Rna x}");
    assert_eq!(counts(&bad[&Model::Rc11]), (3, 0, 0, 2));
    assert_eq!(counts(&bad[&Model::Ra]), (2, 0, 0, 0));
}

#[test]
fn two_plain_writes_race_unless_locked() {
    let racy = truths("Wna x 1 || Wna x 2");
    let locked = truths("lock l; Wna x 1; unlock l || lock l; Wna x 2; unlock l");
    for model in Model::ALL {
        assert_eq!(counts(&racy[&model]), (2, 0, 0, 2), "{model}");
        assert_eq!(counts(&locked[&model]), (2, 0, 0, 0), "{model}");
    }
}

#[test]
fn opposite_nesting_has_two_orders_and_one_deadlock() {
    let found = truths("lock l; lock m; unlock m; unlock l || lock m; lock l; unlock l; unlock m");
    for model in Model::ALL {
        assert_eq!(counts(&found[&model]), (2, 1, 1, 0), "{model}");
    }
    let deadlock = |ending| matches!(ending, Ending::Deadlock);
    assert_eq!(found[&Model::Sc].outcomes.iter().filter(|outcome| deadlock(outcome.ending)).count(), 1);
}

#[test]
fn a_waiter_behind_an_assumption_is_blocked_but_not_deadlocked() {
    let found = truths("lock l; a=Rrlx x; assume(a==1); unlock l || lock l; Wrlx x 1; unlock l");
    assert_eq!(counts(&found[&Model::Rc11]), (1, 1, 0, 0));
}

#[test]
fn a_lock_never_released_is_a_deadlock_for_the_second() {
    assert_eq!(counts(&truths("lock l || lock l")[&Model::Rc11]), (0, 2, 2, 0));
    assert_eq!(counts(&truths("lock l; lock l")[&Model::Rc11]), (0, 1, 1, 0));
}

#[test]
fn a_failed_trylock_may_read_a_lock_long_released() {
    // Taken before, taken after, or failed; the relaxed read is free in the first and the last case.
    let found = truths("lock l; Wrlx x 1; unlock l || a=trylock l; if(a==1){unlock l}; b=Rrlx x");
    assert_eq!(counts(&found[&Model::Rc11]), (5, 0, 0, 0));
}

#[test]
fn spurious_failures_are_counted_only_when_asked_for() {
    let program = Program::parse("a,s=WCASrlx x 0 1; if(s==0){Wrlx y 1} || CASrlx x 5 6").expect("a program");
    let strict = enumerate(&program, &Options::default()).expect("small");
    let loose = enumerate(&program, &Options { spurious: true, ..Options::default() }).expect("small");
    // Without: the strong swap fails on 0 or on 1. With: also on 0 when nothing was written.
    assert_eq!(counts(&strict[&Model::Rc11]), (2, 0, 0, 0));
    assert_eq!(counts(&loose[&Model::Rc11]), (3, 0, 0, 0));
    assert!(strict[&Model::Rc11].keys.is_subset(&loose[&Model::Rc11].keys));
}

#[test]
fn choices_have_no_effect_on_memory() {
    let without = truths("a=Racq x; b=Rsc y || Wsc x 1; Wsc x 2 || Wsc y 1; c=Rsc x");
    let with = truths("a=Racq x; b=Rsc y || Wsc x 1; d=choose 1; Wsc x 2 || Wsc y 1; c=Rsc x");
    for model in Model::ALL {
        assert_eq!(with[&model].complete, without[&model].complete, "{model}");
    }
}

#[test]
fn initial_values_are_read() {
    let found = truths("{x=7} a=Rrlx x; Wrlx y a");
    let outcome = found[&Model::Sc].outcomes.first().expect("one graph");
    assert_eq!((outcome.registers[0][0], outcome.memory.as_slice()), (7, [7, 7].as_slice()));
}

#[test]
fn programs_that_are_too_large_are_refused() {
    let program = Program::parse(&["Rrlx x; Rrlx x; Wrlx x 1"; 12].join(" || ")).expect("a program");
    let options = Options { budget: 1000, ..Options::default() };
    assert_eq!(enumerate(&program, &options), Err(TooLarge));
}

#[test]
fn an_empty_program_has_one_graph() {
    for source in ["", "||", "Fsc", "assume(1)"] {
        assert_eq!(counts(&truths(source)[&Model::Cpp20]), (1, 0, 0, 0), "{source}");
    }
}

#[test]
fn each_graph_has_a_key_of_its_own() {
    on_random_programs(150, |program, truths| {
        for (model, truth) in truths {
            let graphs = truth.complete + truth.blocked;
            assert_eq!(truth.keys.len() as u64, graphs, "{model}: {program}");
            assert!(truth.deadlock <= truth.blocked && truth.racy <= graphs, "{model}: {program}");
        }
    });
}

#[test]
fn stronger_models_have_fewer_graphs() {
    use Model::{Cpp20, Ra, Rc11, Rc11g, Sc, Tso};
    let pairs =
        [(Sc, Tso), (Tso, Ra), (Sc, Ra), (Sc, Rc11), (Sc, Rc11g), (Sc, Cpp20), (Rc11g, Rc11), (Cpp20, Rc11)];
    on_random_programs(150, |program, truths| {
        for (strong, weak) in pairs {
            let contained = truths[&strong].keys.is_subset(&truths[&weak].keys);
            assert!(contained, "{strong} is not within {weak}: {program}");
        }
    });
}

#[test]
fn without_sc_the_models_for_it_agree_and_ra_is_within_them() {
    for seed in 0..150 {
        let text = generate(Profile::Mixed, &mut Random::new(seed)).to_string();
        let text = text.replace("FADDsc", "FADDar").replace("XCHGsc", "XCHGar").replace("CASsc", "CASar");
        let text =
            text.replace("Fsc", "Far").replace("Wsc", "Wrel").replace("Rsc", "Racq").replace("/sc", "/acq");
        let found = truths(&text);
        assert_eq!(found[&Model::Rc11].keys, found[&Model::Cpp20].keys, "{text}");
        assert_eq!(found[&Model::Rc11].keys, found[&Model::Rc11g].keys, "{text}");
        assert!(found[&Model::Ra].keys.is_subset(&found[&Model::Rc11].keys), "{text}");
    }
}

#[test]
fn the_order_of_threads_does_not_matter() {
    on_random_programs(40, |program, truths| {
        let reversed: Vec<usize> = (0..program.threads.len()).rev().collect();
        let other = enumerate(&program.permuted(&reversed), &Options::default()).expect("as small as before");
        for (model, truth) in truths {
            assert_eq!(counts(truth), counts(&other[model]), "{model}: {program}");
            assert_eq!(truth.outcomes.len(), other[model].outcomes.len(), "{model}: {program}");
        }
    });
}
