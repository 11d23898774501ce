//! The text form, the machine and the generator.

use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::program::{Loc, Lock, Mode};
use unpick_testkit::{Machine, Program, Random, Step};

#[test]
fn printing_and_parsing_are_inverse() {
    let sources = [
        "Wrlx x 1; a=Racq y || b=CASar/rlx x 0 1; if(b==0){Fsc}else{Wna y b+1}",
        "{x=1; y=-2} a,ok=WCASsc x (1+1) -1; assume(a<2 and (ok==1 or a!=0)) || t=trylock l; if(t==1){unlock l}",
        "let n=0; do{a=Racq x; if(a==0){let n=n+1; Wrel y 0}}until(a==1 or n>=2) || do{lock l; unlock l}until(1)",
        "c=choose 3; lock l; FADDrel x c-1-1; XCHGar x c-(1-c); unlock l || if((c1==1)==0){}",
    ];
    for source in &sources[..3] {
        let program = Program::parse(source).unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(program.to_string(), *source);
    }
    assert!(Program::parse(sources[3]).is_err(), "a register that is never assigned");
    for profile in Profile::ALL {
        for seed in 0..500 {
            let program = generate(profile, &mut Random::new(seed));
            let text = program.to_string();
            assert_eq!(Program::parse(&text), Ok(program), "{text}");
        }
    }
}

#[test]
fn precedence_survives_the_round_trip() {
    for value in ["a-1-1", "a-(1-a)", "(a==1)==0", "a==1 and a==2 or a<3", "a and (a or 1)", "a-(-1)"] {
        let source = format!("a=Rrlx x; Wrlx y {value}");
        let program = Program::parse(&source).unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(Program::parse(&program.to_string()), Ok(program));
    }
}

#[test]
fn errors_point_at_their_cause() {
    let cases = [
        ("Wrlx x 1; Wfoo y 1", 10, "unknown statement"),
        ("Wacq x 1", 0, "cannot have the mode"),
        ("a=Wrlx x 1", 2, "does not yield"),
        ("Wrlx x q", 7, "unknown name `q`"),
        ("a=Rrlx x; Wrlx a 1", 17, "memory here and a register"),
        ("lock l; Wrlx l 1", 15, "is a lock"),
        ("Wrlx x 1 Wrlx y 1", 9, "expected `;`"),
        ("if(1){Wrlx x 1", 14, "expected `}`"),
        ("c=choose 0", 10, "cannot choose"),
        ("CASar/rel x 0 1", 10, "not a failure mode"),
        ("Wrlx x 1 & 2", 9, "unexpected character"),
        ("Wrlx x 99999999999999999999", 7, "not a number"),
        ("do{if(1){Wrlx x 1}}until(1)", 2, "begins with an operation"),
        ("do{}until(1)", 2, "begins with an operation"),
        ("assume(1==1==1)", 11, "do not chain"),
    ];
    for (source, offset, message) in cases {
        let error = Program::parse(source).expect_err(source);
        assert!(error.message.contains(message), "{source}: {error}");
        assert_eq!(error.offset, offset, "{source}: {error}");
    }
}

#[test]
fn the_machine_stops_at_operations_only() {
    let source = "a=Rrlx x; if(a==1){lock l; unlock l}else{assume(a!=2); b=WCASar x a a+1}; Fsc";
    let program = Program::parse(&source.replace("a a+1", "a (a+1)")).expect("a program");
    let mut machine = Machine::new(program.compile()[0].clone());
    let load = Step::Load { loc: Loc(0), mode: Mode::Relaxed };
    assert_eq!(machine.current(), load);
    machine.advance(1);
    assert_eq!(machine.current(), Step::Lock { lock: Lock(0) });
    machine.advance(0);
    assert_eq!(machine.current(), Step::Unlock { lock: Lock(0) });
    machine.advance(0);
    assert_eq!(machine.current(), Step::Fence { mode: Mode::SeqCst });
    machine.advance(0);
    assert_eq!(machine.current(), Step::Done);

    machine.reset();
    assert_eq!(machine.current(), load);
    machine.advance(2);
    assert_eq!(machine.current(), Step::Blocked);

    machine.reset();
    machine.advance(5);
    let (success, failure) = (Mode::AcqRel, Mode::Acquire);
    let swap = Step::Cas { loc: Loc(0), success, failure, expected: 5, new: 6, weak: true };
    assert_eq!(machine.current(), swap);
    machine.advance(5);
    assert_eq!(machine.registers(), [5, 5]);
}

#[test]
fn a_swap_tells_whether_it_was_done() {
    let program = Program::parse("a,s=WCASrlx x 0 1").expect("a program");
    let run = |step: &dyn Fn(&mut Machine)| {
        let mut machine = Machine::new(program.compile()[0].clone());
        step(&mut machine);
        machine.registers().to_vec()
    };
    assert_eq!(run(&|machine| machine.advance(0)), [0, 1]);
    assert_eq!(run(&|machine| machine.advance(3)), [3, 0]);
    assert_eq!(run(&|machine| machine.advance_spurious(0)), [0, 0]);
}

#[test]
fn threads_can_be_permuted() {
    let program = Program::parse("Wrlx x 1 || a=Rrlx x || Fsc").expect("a program");
    assert_eq!(program.permuted(&[2, 0, 1]).to_string(), "Fsc || Wrlx x 1 || a=Rrlx x");
    assert_eq!(program.permuted(&[0, 1, 2]), program);
}

/// Random walks through random programs: the holder unlocks, and nobody locks twice.
#[test]
fn generated_programs_use_locks_properly() {
    let mut locked = 0;
    for profile in [Profile::Locks, Profile::Mixed] {
        for seed in 0..500 {
            let program = generate(profile, &mut Random::new(seed));
            let mut machines: Vec<Machine> = program.compile().into_iter().map(Machine::new).collect();
            let mut holder: Vec<Option<usize>> = vec![None; program.locks.len()];
            let mut random = Random::new(seed);
            for _ in 0..200 {
                let thread = random.below(machines.len());
                let answer = match machines[thread].current() {
                    Step::Done | Step::Blocked => continue,
                    Step::Lock { lock } => match holder[lock.0 as usize] {
                        Some(other) => {
                            assert_ne!(other, thread, "locks twice: {program}");
                            continue;
                        }
                        None => {
                            locked += 1;
                            holder[lock.0 as usize] = Some(thread);
                            0
                        }
                    },
                    Step::TryLock { lock } => {
                        let free = holder[lock.0 as usize].is_none();
                        assert_ne!(holder[lock.0 as usize], Some(thread), "tries what it holds: {program}");
                        if free {
                            holder[lock.0 as usize] = Some(thread);
                        }
                        free.into()
                    }
                    Step::Unlock { lock } => {
                        assert_eq!(holder[lock.0 as usize].take(), Some(thread), "unlocks: {program}");
                        0
                    }
                    Step::Choose { n } => random.below(n as usize) as i64,
                    _ => random.below(3) as i64,
                };
                machines[thread].advance(answer);
            }
        }
    }
    assert!(locked > 500, "the generator draws locks");
}

#[test]
fn the_generator_is_deterministic() {
    for profile in Profile::ALL {
        let draw = || generate(profile, &mut Random::new(42)).to_string();
        assert_eq!(draw(), draw());
    }
}
