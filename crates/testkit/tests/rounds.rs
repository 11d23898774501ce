//! Loops that wait: the engine against brute force that goes round a few times.

use unpick_testkit::drive::{Settings, explore};
use unpick_testkit::rounds::{self, ROUNDS, difference, redundant, truths, unroll};
use unpick_testkit::{Model, Program, Random, waiting};

/// Random programs.
const PROGRAMS: u64 = 60;

fn program(text: &str) -> Program {
    Program::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn random_programs_have_the_graphs_and_the_outcomes_of_brute_force() {
    let mut judged = 0;
    for number in 0..PROGRAMS {
        let program = waiting::generate(&mut Random::new(number));
        let spurious = number % 2 == 0;
        let Some(truths) = truths(&program, spurious) else { continue };
        judged += 1;
        let differs =
            rounds::difference_of(&program, spurious, &truths, |settings| explore(&program, settings));
        assert_eq!(differs, None, "program {number}");
    }
    assert!(judged > PROGRAMS / 2, "only {judged} programs were compared");
}

/// Programs that have refuted the engine or the rule at some time.
#[test]
fn programs_that_went_wrong_are_right() {
    let programs = [
        // The thread that waits reads its own write later, in place of one that it would synchronise with.
        "FADDacq x 1; r0=CASrlx y 1 1 || r0=CASar y 0 1; Wsc x 0 \
         || do{r0=Racq x; r1=Rsc y; if(r1==1){Wrlx y 1}}until(r0==1); r2=Rrlx x",
        // A livelock that is none, since the round reads what it writes.
        "Wrel x 1; do{Wrel x 1; r0=Racq x}until(r0==1) || Wrlx x 0",
        // Someone notices a round because of what the thread does later.
        "a=Rrlx y || Wrlx x 1 || do{r=Rrlx x; if(r==0){lock l; unlock l}}until(r==1); Wrlx y 1 \
         || t=trylock l; if(t==1){unlock l}",
        "a=Rrlx y; if(a==1){b=Rrlx z} || Wrlx x 1 \
         || do{r=Rrlx x; if(r==0){Wrlx z 1; Wrlx z 0}}until(r==1); Wrlx y 1",
        // The rounds matter since another thread has written before them.
        "do{r0=XCHGrlx y 1}until(r0==1); r1=Rrlx y; FADDrlx x 1 \
         || let r0=0; do{Wrel x 0; if(r0<1){let r0=r0+1}; r1=Rrlx y}until(r1==1); Wrel y r0; r2=Rrlx y",
        "do{r0=Racq y}until(r0==0); FADDrlx y 1; r1=Racq z \
         || do{Wrlx z 0; Wrlx x 0; r0=Racq y}until(r0==1) || FADDrel x 1; Wrlx x 1",
        // Two rounds at a time.
        "do{Wrel y 0; r0=Rrlx x}until(r0==1) || Wrlx x 1; Far; r0=Rsc y || r0=Racq y; Wrlx y 1; Wsc y 1",
        // The write before the round depends on who has read the round.
        "{x=1} r0=CASrel y 1 2; Wrel x 1; r1=Racq y || FADDrel x 1; Wrlx y 0 \
         || do{Wrel y 0; r0=Rsc z}until(r0==1); Wrlx z r0",
        // The example of the rule.
        "Wrlx d 1; Wrel a 1 || do{f=Racq b; if(f==0){g=Rrlx a; if(g==1){Wrlx a 1}}}until(f!=0); h=Rrlx c \
         || r=Racq a; if(r==1){s=Rrlx d; if(s==0){Wrlx c 2}; Wrel b 1}",
    ];
    for text in programs {
        let program = program(text);
        assert!(truths(&program, false).is_some(), "too large: {text}");
        assert_eq!(difference(&program, false), None);
    }
}

#[test]
fn a_loop_that_only_reads_is_left_at_once() {
    let program = program("do{a=Racq x}until(a==1); Wrlx y 1 || Wrel x 1");
    for model in Model::ALL {
        let found = explore(&program, Settings::exact(model.name()));
        let truth = &unroll(&program, false, ROUNDS).expect("it is small")[&model];
        assert_eq!((found.complete, found.blocked, found.deadlock), (1, 1, 0), "{model}");
        assert_eq!((redundant(&program, &found, truth), truth.complete.len()), (0, ROUNDS), "{model}");
    }
}

#[test]
fn a_loop_that_nobody_ends_is_a_livelock() {
    let programs = [
        ("do{a=Racq x}until(a==1)", true),
        ("do{a=Racq x}until(a==1) || Wrlx x 2", true),
        ("do{Wrel y 1; a=Racq x}until(a==1)", true),
        ("do{lock l; a=Rrlx x; unlock l}until(a==1) || lock l; unlock l", true),
        ("do{FADDar y 1; a=Rrlx x; FADDar y -1}until(a==1)", true),
        ("do{a=Racq x}until(a==1) || do{b=Racq y}until(b==1); Wrel x 1", true),
        ("do{a=Racq x}until(a==1) || Wrel x 1", false),
        ("do{c=choose 2}until(c==1)", false),
        ("let s=0; do{Rrlx x; let s=s+1}until(s==3)", false),
        ("do{a=trylock l}until(a==1); unlock l || lock l; unlock l", false),
        ("do{a=trylock l}until(a==1); unlock l || lock l", true),
    ];
    for (text, stuck) in programs {
        let program = program(text);
        for model in Model::ALL {
            let found = explore(&program, Settings::exact(model.name()));
            assert_eq!(found.deadlock > 0, stuck, "{model}: {text}");
            assert_eq!(found.cut, 0, "{model}: {text}");
        }
        assert_eq!(difference(&program, false), None);
    }
}

#[test]
fn without_recognition_executions_are_cut() {
    let program = program("do{a=Racq x}until(a==1) || Wrel x 1");
    let settings = Settings { recognises: false, most_events: 8, ..Settings::exact("cpp20") };
    let found = explore(&program, settings);
    assert!(found.cut > 0 && found.complete > 1, "{found:?}");
}
