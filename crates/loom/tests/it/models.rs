//! Models and their settings.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc as StdArc;
use std::sync::Mutex as StdMutex;
use std::time::Duration;

use crate::loom::model::Builder;
use crate::loom::sync::Arc;
use crate::loom::sync::atomic::AtomicUsize;
use crate::loom::sync::atomic::Ordering::Relaxed;
use crate::loom::{self, model, thread};
use crate::{fails, failure};

/// Two numbers, each written by one thread and read by the other.
fn store_buffering() -> (usize, usize) {
    let ours = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let theirs = ours.clone();
    let other = thread::spawn(move || {
        theirs.0.store(1, Relaxed);
        theirs.1.load(Relaxed)
    });
    ours.1.store(1, Relaxed);
    (ours.0.load(Relaxed), other.join().unwrap())
}

/// A number that two threads add to, which loses one of them.
fn lost_update() {
    let number = Arc::new(AtomicUsize::new(0));
    let theirs = number.clone();
    let other = thread::spawn(move || theirs.store(theirs.load(Relaxed) + 1, Relaxed));
    number.store(number.load(Relaxed) + 1, Relaxed);
    other.join().unwrap();
    assert_eq!(number.load(Relaxed), 2);
}

/// What is captured may grow in the model, whatever it is.
#[test]
fn results_are_collected() {
    let seen = StdArc::new(StdMutex::new((HashSet::new(), BTreeSet::new(), Vec::new())));
    let theirs = seen.clone();
    model(move || {
        let both = store_buffering();
        let mut seen = theirs.lock().unwrap();
        seen.0.insert(both);
        seen.1.insert(format!("{both:?}"));
        (0..10).for_each(|_| seen.2.push(Box::new(both)));
    });
    let seen = seen.lock().unwrap();
    let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
    assert_eq!(seen.0, HashSet::from(all));
    assert_eq!(seen.1, all.map(|both| format!("{both:?}")).into());
    assert!(seen.2.len() >= 40 && seen.2.iter().all(|both| all.contains(both)));
}

/// Numbers and static text that are captured cannot hold anything: memory errors are still found.
#[test]
fn what_a_closure_captures_may_hold_nothing() {
    let (number, text) = (7_usize, "seven");
    let report = fails(move || {
        assert_eq!((number, text.len()), (7, 5));
        std::mem::forget(Arc::new(number));
    });
    assert!(report.contains("leak"), "{report}");
}

#[test]
fn bounds_are_no_failures() {
    let builder = |set: &dyn Fn(&mut Builder)| {
        let mut builder = Builder::new();
        set(&mut builder);
        builder
    };
    builder(&|builder| builder.preemption_bound = Some(0)).check(|| _ = store_buffering());
    builder(&|builder| builder.max_permutations = Some(1)).check(|| _ = store_buffering());
    builder(&|builder| builder.max_duration = Some(Duration::ZERO)).check(|| _ = store_buffering());
    builder(&|builder| builder.expect_explicit_explore = true).check(|| {
        loom::explore();
        store_buffering();
        loom::stop_exploring();
        loom::skip_branch();
    });
    let short = builder(&|builder| builder.max_branches = 3);
    let report = failure(|| short.check(|| _ = store_buffering()));
    assert!(report.contains("events"), "{report}");
    let bounded = builder(&|builder| builder.preemption_bound = Some(1));
    failure(|| bounded.check(lost_update));
}

#[test]
fn as_many_threads_as_one_likes() {
    model(|| {
        let threads: Vec<_> =
            (0..2 * loom::MAX_THREADS).map(|number| thread::spawn(move || number)).collect();
        assert_eq!(threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>(), 45);
    });
}

#[test]
fn a_checkpoint_brings_an_execution_back() {
    let file = std::env::temp_dir().join(format!("unpick-loom-checkpoint-{}", std::process::id()));
    let name = file.display().to_string();
    let builder = || {
        let mut builder = Builder::new();
        builder.checkpoint_file(&name);
        builder
    };
    assert!(failure(|| builder().check(lost_update)).contains("replay:"));
    let report = failure(|| builder().check(lost_update));
    assert!(report.contains("execution 1"), "{report}");
    let refused = failure(|| builder().check(|| _ = store_buffering()));
    assert!(refused.contains("cannot be used") && refused.contains("remove the file"), "{refused}");
    std::fs::write(&file, r#"{"preemption_bound":null,"pos":0,"branches":[]}"#).unwrap();
    let refused = failure(|| builder().check(lost_update));
    assert!(refused.contains("another tool"), "{refused}");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn a_model_is_not_inside_another() {
    let problem = fails(|| model(|| ()));
    assert!(problem.contains("inside another"), "{problem}");
}

/// What loom is told to leave alone is explored all the same.
#[test]
fn every_part_of_a_model_is_explored() {
    let lost = |before: fn(), after: fn()| {
        fails(move || {
            let number = Arc::new(AtomicUsize::new(0));
            let theirs = number.clone();
            before();
            let other = thread::spawn(move || theirs.store(theirs.load(Relaxed) + 1, Relaxed));
            number.store(number.load(Relaxed) + 1, Relaxed);
            after();
            other.join().unwrap();
            assert_eq!(number.load(Relaxed), 2, "an update was lost");
        })
    };
    for report in [lost(loom::stop_exploring, loom::explore), lost(loom::skip_branch, || ())] {
        assert!(report.contains("an update was lost"), "{report}");
    }
}

/// What the last owner does when it lets go, be it who it may.
struct Last(StdArc<AtomicUsize>);

impl Drop for Last {
    fn drop(&mut self) {
        self.0.store(self.0.load(Relaxed) + 1, Relaxed);
    }
}

/// Which thread is the last owner is not seen by the model: it is an `Arc` of std.
#[test]
fn shared_pointers_of_std_may_be_dropped_by_any_thread() {
    let program = || {
        let (dropped, number) = (StdArc::new(AtomicUsize::new(0)), StdArc::new(AtomicUsize::new(0)));
        let shared = StdArc::new(Last(dropped.clone()));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (shared, number) = (shared.clone(), number.clone());
                thread::spawn(move || {
                    number.fetch_add(1, Relaxed);
                    drop(shared);
                    number.load(Relaxed)
                })
            })
            .collect();
        number.fetch_add(1, Relaxed);
        drop(shared);
        number.store(0, Relaxed);
        threads.into_iter().for_each(|thread| drop(thread.join()));
        assert_eq!(dropped.load(Relaxed), 1);
    };
    model(program);
    for bound in 0..3 {
        let mut builder = Builder::new();
        builder.preemption_bound = Some(bound);
        builder.check(program);
    }
}
