//! Choices, assumptions and labels.

use std::sync::Arc;

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::{Check, Verdict, assume, choose, label, thread};

use crate::support::*;

#[test]
fn every_choice_is_made() {
    let (seen, verdict) = outcomes_in(&Check::new(), || choose(7) as u64);
    assert_eq!(seen, (0..7).collect());
    assert_eq!(counts(&verdict), (7, 0));
    let (seen, verdict) = outcomes_in(&Check::new(), || choose(1) as u64);
    assert_eq!((seen.len(), counts(&verdict)), (1, (1, 0)));
}

#[test]
fn choices_nest() {
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let n = choose(4);
        let m = if n == 0 { 0 } else { choose(n) };
        digits([n, m])
    });
    assert_eq!(seen, [0, 10, 20, 21, 30, 31, 32].into_iter().collect());
    assert_eq!(counts(&verdict), (7, 0));
}

#[test]
fn choices_and_reads_multiply() {
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.store(1 + choose(3), Relaxed));
        let n = choose(2);
        let seen = x.load(Relaxed);
        t.join().unwrap();
        digits([n, seen])
    });
    assert_eq!(seen, [0, 1, 2, 3, 10, 11, 12, 13].into_iter().collect());
    // The writer's choice counts also where its store is not seen.
    assert_eq!(counts(&verdict), (12, 0));
}

#[test]
fn no_choice_is_a_panic() {
    assert!(told(&violated(|| assert_eq!(choose(0), 0))).contains("no number below 0"));
}

#[test]
fn assumptions_leave_executions_out() {
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let n = choose(6);
        assume(n.is_multiple_of(2));
        n as u64
    });
    assert_eq!(seen, [0, 2, 4].into_iter().collect());
    assert_eq!(counts(&verdict), (3, 3));
    let verdict = run(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        thread::spawn(move || y.store(1, Relaxed));
        assume(x.load(Relaxed) == 1);
        assert_eq!(x.load(Relaxed), 1);
    });
    assert_eq!(counts(&verdict), (1, 1));
}

/// The program would have looked at the panic, had it gone on.
#[test]
fn a_panic_in_an_execution_that_is_left_out_counts_for_nothing() {
    let counted = passes(|| {
        let t = thread::spawn(|| panic!("left out"));
        assume(false);
        let _ = t.join();
    });
    assert_eq!(counted, (0, 1));
}

#[test]
fn labels_are_told() {
    let finding = violated(|| {
        label("before the choice");
        let n = choose(3);
        label(format_args!("chose {n}"));
        let t = thread::spawn(move || {
            label("in the thread");
            assert!(n < 2);
            label("not reached");
        });
        t.join().unwrap();
    });
    let told = told(&finding);
    for text in ["before the choice", "chose 2", "in the thread"] {
        assert_eq!(told.matches(text).count(), 1, "{text} in\n{told}");
    }
    assert!(!told.contains("not reached"), "{told}");
}

#[test]
fn labels_are_written_only_for_a_report() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    struct Counted(Arc<AtomicUsize>);
    impl std::fmt::Display for Counted {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.fetch_add(1, Ordering::Relaxed);
            f.write_str("counted")
        }
    }
    let written = Arc::new(AtomicUsize::new(0));
    let theirs = written.clone();
    holds(move || {
        choose(50);
        label(Counted(theirs.clone()));
    });
    assert_eq!(written.load(Ordering::Relaxed), 0);
}

#[test]
fn outside_a_check_they_do_nothing() {
    assert_eq!(choose(5), 0);
    assume(false);
    label("nobody listens");
    unpick::await_until(|| true);
}

#[test]
fn a_verdict_tells_what_it_assumes() {
    let verdict = run(|| {});
    assert!(verdict.assumptions().iter().any(|a| a.contains("load buffering")), "{verdict}");
    assert!(verdict.assumptions().iter().any(|a| a.contains("compare_exchange_weak")), "{verdict}");
    assert_eq!(verdict.summary().model, "cpp20");
    assert!(matches!(verdict, Verdict::Holds(_)));
}
