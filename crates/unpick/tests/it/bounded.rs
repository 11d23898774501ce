//! Bounds on preemptions.

use std::sync::Arc;

use unpick::sync::Mutex;
use unpick::sync::atomic::{AtomicU32, Ordering::SeqCst};
use unpick::{Check, Reason, Verdict, thread};

/// Three threads add 1, each by a load and a store; the sum is not looked at.
fn adding() {
    let number = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let number = Arc::clone(&number);
            thread::spawn(move || number.store(number.load(SeqCst) + 1, SeqCst))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// One thread is asked twice by another, and answers in between.
fn asking() {
    let [question, answer] = [0, 0].map(|number| Arc::new(AtomicU32::new(number)));
    let (theirs, reply) = (Arc::clone(&question), Arc::clone(&answer));
    let other = thread::spawn(move || {
        for _ in 0..2 {
            reply.store(theirs.load(SeqCst), SeqCst);
        }
    });
    question.store(1, SeqCst);
    let first = answer.load(SeqCst);
    question.store(2, SeqCst);
    let second = answer.load(SeqCst);
    other.join().unwrap();
    assert!(first != 1 || second != 2, "both were answered");
}

#[test]
fn the_counts_within_each_bound() {
    let count = |bound| {
        let verdict = Check::new().model("sc").preemption_bound(bound).run(adding).unwrap();
        let coverage = verdict.summary().coverage.expect("the search came to its end");
        assert_eq!((coverage.preemptions, coverage.blocked), (bound, 0), "{verdict}");
        assert_eq!(coverage.complete, verdict.stats().executions, "{verdict}");
        assert_eq!(coverage.is_total(), verdict.holds(), "{verdict}");
        coverage.complete
    };
    assert_eq!([count(0), count(1), count(2)], [6, 24, 36]);
}

#[test]
fn what_was_left_out_makes_the_verdict_inconclusive() {
    let verdict = Check::new().model("sc").preemption_bound(0).run(adding).unwrap();
    assert!(matches!(verdict, Verdict::Inconclusive(Reason::Preemptions(0), _)), "{verdict}");
    let text = verdict.to_string();
    assert!(text.contains("executions with more than 0 preemptions were left out"), "{text}");
    assert!(text.contains("every execution with at most 0 preemptions was explored"), "{text}");
}

#[test]
fn a_bound_that_leaves_nothing_out_is_a_proof() {
    let locked = || {
        let number = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&number);
        let other = thread::spawn(move || *theirs.lock().unwrap() += 1);
        *number.lock().unwrap() += 1;
        other.join().unwrap();
        assert_eq!(*number.lock().unwrap(), 2);
    };
    let verdict = Check::new().preemption_bound(3).run(locked).unwrap();
    assert!(verdict.holds(), "{verdict}");
    assert!(verdict.to_string().contains("every execution was explored"), "{verdict}");
}

#[test]
fn a_violation_is_found_within_its_bound() {
    let verdict = Check::new().preemption_bound(3).run(asking).unwrap();
    assert!(verdict.violation().is_some_and(|found| found.title == "panic"), "{verdict}");
    let set = |name: &str| (name == "UNPICK_PREEMPTIONS").then(|| String::from("3"));
    let verdict = Check::new().with(set).unwrap().run(asking).unwrap();
    assert!(verdict.violation().is_some(), "{verdict}");
}

#[test]
fn with_a_limit_on_executions_nothing_is_said_about_the_bound() {
    let verdict = Check::new().model("sc").preemption_bound(1).max_executions(5).run(adding).unwrap();
    assert!(matches!(verdict, Verdict::Inconclusive(Reason::Executions, _)), "{verdict}");
    assert_eq!(verdict.summary().coverage, None);
}
