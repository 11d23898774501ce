//! The library on fibers against the brute-force oracle.

use std::path::Path;

use unpick_testkit::drive::{self, Settings};
use unpick_testkit::fibers::{self, flushed, has_plain_accesses};
use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::litmus::load;
use unpick_testkit::{Program, Random};

/// Random programs per profile.
const PROGRAMS: u64 = 200;

/// Litmus tests with more executions than this are left to the data driver.
const LARGE: u64 = 5000;

#[test]
fn random_programs_have_exactly_the_graphs_of_the_oracle() {
    for profile in Profile::ALL.into_iter().filter(|&profile| profile != Profile::Plain) {
        let mut random = Random::new(11);
        for number in 0..PROGRAMS {
            let program = generate(profile, &mut random);
            if let Some(difference) = fibers::difference(&program, number % 2 == 0) {
                panic!("{profile:?} {number}: {difference}");
            }
        }
    }
}

#[test]
fn litmus_tests_have_their_counts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let tests = load(&folder).expect("the litmus folder can be read");
    let mut judged = 0;
    for (path, litmus) in tests {
        let program = &litmus.program;
        if has_plain_accesses(program) {
            continue;
        }
        for (&model, expect) in litmus.expect.iter().filter(|(_, expect)| expect.complete <= LARGE) {
            let found = fibers::explore(program, Settings::exact(model.name()));
            let counts = (found.complete, found.blocked, found.deadlock, found.racy, found.duplicates);
            let wanted = (expect.complete, expect.blocked, expect.deadlock, expect.racy, 0);
            if model.name() == "tso" && fibers::has_seqcst_stores(program) {
                let data = drive::explore(&flushed(program), Settings::exact("tso"));
                assert_eq!(found, data, "{} under tso", path.display());
            } else {
                assert_eq!(counts, wanted, "{} under {model}", path.display());
            }
            judged += 1;
        }
    }
    assert!(judged > 800, "only {judged} counts were compared");
}

#[test]
fn executions_of_a_search_that_starts_over_are_not_counted_twice() {
    let programs = [
        (
            false,
            "r0=Rrlx x; r1,r2=CASrel/acq x 0 1; r3=CASrel x 0 r1; r4=Rrlx x \
             || Wrlx x 2; Wrlx x 2; Wrel x 3; Wrlx x 2",
        ),
        (
            true,
            "post l; r0=Rrlx x || r0=FADDrlx x 1; post l; if(r0!=0){lock l}else{post l} \
             || r0=Racq x; post l; r1=Racq x",
        ),
    ];
    for (spurious, text) in programs {
        let program = Program::parse(text).expect("a program");
        assert_eq!(fibers::difference(&program, spurious), None);
    }
}

#[test]
fn a_deadlock_is_counted_and_the_search_goes_on() {
    let program = Program::parse("lock a; lock b; unlock b; unlock a || lock b; lock a; unlock a; unlock b");
    let found = fibers::explore(&program.expect("a program"), Settings::exact("cpp20"));
    assert_eq!((found.complete, found.blocked, found.deadlock), (2, 1, 1));
}

#[test]
fn seqcst_stores_are_flushed_under_tso() {
    let program = Program::parse("Wsc x 1; Rrlx y || if(1){Wsc y 1}; Rrlx x").expect("a program");
    assert_eq!(flushed(&program).to_string().matches("Fsc").count(), 2);
    assert_eq!(fibers::explore(&program, Settings::exact("tso")).complete, 3);
    assert_eq!(drive::explore(&program, Settings::exact("tso")).complete, 4);
}
