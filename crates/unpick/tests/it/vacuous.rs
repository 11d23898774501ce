//! Checks that can show nothing, which are failures unless they are told not to be.

use std::sync::atomic::AtomicU32 as PlainU32;

use unpick::sync::atomic::{AtomicU32, Ordering::*};
use unpick::sync::{Arc, Mutex, mpsc};
use unpick::{Check, Reason, Vacuous, Verdict, assume, choose, thread};

use crate::support::{holds, run, violated};

/// Why a check shows nothing, of one that is a failure.
fn vacuous(program: impl Fn() + Send + Sync + 'static) -> Vacuous {
    match run(program) {
        Verdict::Inconclusive(Reason::Vacuous(vacuous), _) => vacuous,
        other => panic!("{other}"),
    }
}

/// Two threads that count with an atomic of the standard library.
fn std_atomic() {
    let number = Arc::new(PlainU32::new(0));
    let theirs = Arc::clone(&number);
    let other = thread::spawn(move || theirs.store(theirs.load(Relaxed) + 1, Relaxed));
    number.store(number.load(Relaxed) + 1, Relaxed);
    other.join().unwrap();
    assert_eq!(number.load(Relaxed), 2);
}

#[test]
fn atomics_of_the_standard_library_are_noticed() {
    assert_eq!(vacuous(std_atomic), Vacuous::NothingShared);
    let message = std::panic::catch_unwind(|| unpick::check(std_atomic)).expect_err("the test fails");
    let message = message.downcast_ref::<String>().expect("a text");
    for part in ["no object was used by two threads", "`unpick::sync`", "UNPICK_VACUOUS=1", "allow_vacuous"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_vacuous_check_passes_if_that_is_wanted() {
    let check = Check::new().allow_vacuous(true);
    let verdict = check.run(std_atomic).unwrap();
    assert!(verdict.holds());
    assert_eq!(verdict.summary().vacuous, Some(Vacuous::NothingShared));
    assert!(verdict.to_string().contains("; note: no object was used by two threads"), "{verdict}");
    check.check(std_atomic);
    let by_variable = |name: &str| (name == "UNPICK_VACUOUS").then(|| String::from("1"));
    Check::new().with(by_variable).unwrap().check(std_atomic);
}

#[test]
fn objects_of_each_thread_are_not_shared() {
    let apart = || {
        let counts = || {
            let own = AtomicU32::new(0);
            own.fetch_add(1, AcqRel);
            let lock = Mutex::new(0);
            *lock.lock().unwrap() += 1;
        };
        thread::scope(|scope| {
            scope.spawn(counts);
            scope.spawn(counts);
        });
        counts();
    };
    assert_eq!(vacuous(apart), Vacuous::NothingShared);
}

#[test]
fn each_way_to_share_an_object_counts() {
    holds(|| {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
    });
    holds(|| {
        let cell = unpick::cell::UnsafeCell::new(1);
        // SAFETY: the thread has ended when the cell is used again.
        struct Shared<'a>(&'a unpick::cell::UnsafeCell<u32>);
        // SAFETY: as above.
        unsafe impl Send for Shared<'_> {}
        let shared = Shared(&cell);
        thread::scope(|scope| {
            scope.spawn(move || {
                let Shared(cell) = { shared };
                // SAFETY: nobody else uses it.
                cell.with(|value| unsafe { assert_eq!(*value, 1) });
            });
        });
        // SAFETY: nobody else uses it.
        cell.with(|value| unsafe { assert_eq!(*value, 1) });
    });
    holds(|| {
        let waits = thread::current();
        thread::spawn(move || waits.unpark());
        thread::park();
    });
    unpick::thread_local! {
        static OWN: std::cell::Cell<u32> = const { std::cell::Cell::new(1) };
    }
    holds(|| {
        OWN.set(2);
        assert_eq!(thread::spawn(|| OWN.get()).join().unwrap(), 1);
    });
}

#[test]
fn what_is_shared_in_some_executions_only_counts() {
    holds(|| {
        let number = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&number);
        let shares = choose(3) == 2;
        let other = thread::spawn(move || {
            if shares {
                theirs.store(1, Relaxed)
            }
        });
        number.store(2, Relaxed);
        other.join().unwrap();
    });
}

#[test]
fn one_thread_is_no_failure_and_said() {
    let verdict = run(|| {
        let number = AtomicU32::new(0);
        number.store(choose(2) as u32, Relaxed);
        assert!(number.load(Relaxed) < 2);
    });
    assert!(verdict.holds());
    assert!(verdict.to_string().contains("; note: the program has one thread"), "{verdict}");
}

#[test]
fn conditions_that_are_never_true_are_noticed() {
    let Vacuous::Discarded(place) = vacuous(|| {
        let number = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&number);
        let other = thread::spawn(move || theirs.store(1, Relaxed));
        assume(number.load(Relaxed) > 1);
        other.join().unwrap();
        panic!("nobody comes here");
    }) else {
        panic!("it is discarded")
    };
    assert!(place.contains("vacuous.rs"), "{place}");
    assert!(matches!(vacuous(|| assume(false)), Vacuous::Discarded(_)));
    assert_eq!(
        violated(|| {
            assume(choose(2) == 1);
            panic!("here")
        })
        .title,
        "panic"
    );
    assert_eq!(holds(|| assume(choose(2) == 1)), (1, 1));
}

#[test]
fn threads_of_the_operating_system_are_noticed() {
    let joined = || {
        std::thread::spawn(|| {}).join().unwrap();
    };
    let Vacuous::UnseenThread(place) = vacuous(joined) else { panic!("it is a thread") };
    assert!(place.contains("vacuous.rs"), "{place}");
    let detached = || drop(std::thread::spawn(|| {}));
    assert!(matches!(vacuous(detached), Vacuous::UnseenThread(_)));
    let in_a_thread = || {
        let number = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&number);
        let other = thread::spawn(move || {
            if theirs.load(Relaxed) == 1 {
                std::thread::scope(|scope| drop(scope.spawn(|| {})));
            }
        });
        number.store(1, Relaxed);
        other.join().unwrap();
    };
    assert!(matches!(vacuous(in_a_thread), Vacuous::UnseenThread(_)), "in one execution");
    let verdict = Check::new().allow_vacuous(true).run(joined).unwrap();
    assert!(verdict.holds() && verdict.to_string().contains("thread of the operating system"), "{verdict}");
}

#[test]
fn threads_outside_of_the_program_are_nobodys_concern() {
    holds(|| {
        unpick::outside(|| std::thread::spawn(|| {}).join().unwrap());
    });
}

#[test]
fn samples_that_show_nothing_are_noticed() {
    let check = Check::new().strategy("random").max_executions(5);
    let verdict = check.run(std_atomic).unwrap();
    assert!(
        matches!(verdict, Verdict::Inconclusive(Reason::Vacuous(Vacuous::NothingShared), _)),
        "{verdict}"
    );
    let message = std::panic::catch_unwind(|| {
        Check::new()
            .strategy("random")
            .max_executions(5)
            .on_inconclusive(unpick::OnInconclusive::Pass)
            .check(std_atomic)
    });
    assert!(message.is_err(), "it is another setting");
}
