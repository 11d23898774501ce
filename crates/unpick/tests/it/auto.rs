//! The plan that decides by itself.

use std::sync::Arc;
use std::time::Duration;

use unpick::sync::Mutex;
use unpick::sync::atomic::{AtomicUsize, Ordering::*};
use unpick::{Check, Reason, Verdict, thread};

/// So many threads count, each so often.
fn count(threads: usize, times: usize) {
    let number = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..threads)
        .map(|_| {
            let number = Arc::clone(&number);
            thread::spawn(move || {
                for _ in 0..times {
                    number.fetch_add(1, AcqRel);
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert_eq!(number.load(Relaxed), threads * times);
}

#[test]
fn what_fits_is_explored_to_the_end() {
    let verdict = Check::new().run(|| count(4, 1)).unwrap();
    assert!(verdict.holds(), "{verdict}");
    assert_eq!((verdict.stats().executions, verdict.summary().strategy.as_str()), (24, "optimal"));
    assert_eq!(verdict.summary().effort, None);
}

#[test]
fn what_is_searched_longer_than_a_moment_has_exact_numbers_too() {
    // Long enough for a look at its size.
    let verdict = Check::new().time_limit(Duration::from_secs(600)).run(|| count(8, 1)).unwrap();
    assert!(verdict.holds(), "{verdict}");
    assert_eq!(verdict.stats().executions, 40_320);
}

#[test]
fn what_does_not_fit_is_covered_in_part_and_the_verdict_says_how_far() {
    let verdict = Check::new().time_limit(Duration::from_secs(2)).run(|| count(5, 5)).unwrap();
    let Verdict::Inconclusive(Reason::Time, summary) = &verdict else { panic!("{verdict}") };
    let effort = summary.effort.as_ref().expect("how far it came");
    assert!(effort.sampled > 0 && effort.executions >= effort.sampled, "{effort}");
    assert!(effort.traces.is_some(), "{effort}");
    assert!(effort.estimate.is_some_and(|estimate| estimate > 1e6), "{effort}");
    assert!(effort.pairs.is_some_and(|pairs| pairs > 0), "{effort}");
    assert!(verdict.to_string().contains("not every execution was explored"), "{verdict}");
}

/// The last search may be one of sequentially consistent executions only; others came before it.
#[test]
fn what_is_true_of_one_search_is_not_said_of_all() {
    for milliseconds in [300, 600, 1200] {
        let check = Check::new().time_limit(Duration::from_millis(milliseconds));
        let verdict = check.run(|| count(6, 6)).unwrap();
        let Verdict::Inconclusive(Reason::Time, summary) = &verdict else { panic!("{verdict}") };
        assert_eq!((summary.traces, summary.model.as_str()), (None, "cpp20"), "{verdict}");
        assert!(summary.assumptions.iter().all(|line| !line.contains("sequentially")), "{verdict}");
    }
}

/// An error that needs a certain order in the middle of a program that is far too large to exhaust.
#[test]
fn a_bug_in_a_large_program_is_found_and_replays() {
    let program = || {
        let shared = Arc::new((Mutex::new(0), AtomicUsize::new(0)));
        let workers: Vec<_> = (0..5)
            .map(|i| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    for _ in 0..4 {
                        *shared.0.lock().unwrap() += 1;
                        shared.1.fetch_add(1, AcqRel);
                    }
                    if i == 4 {
                        let seen = shared.1.load(Acquire);
                        let now = shared.1.load(Acquire);
                        assert!(now < seen + 3, "three others in between");
                    }
                })
            })
            .collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    };
    let check = Check::new().time_limit(Duration::from_secs(30));
    let verdict = check.run(program).unwrap();
    let finding = verdict.violation().unwrap_or_else(|| panic!("{verdict}"));
    let token = finding.token.clone();
    let again = Check::new().with(|name| (name == "UNPICK_REPLAY").then(|| token.clone())).unwrap();
    let again = again.run(program).unwrap();
    assert_eq!(again.violation().map(|finding| finding.title.as_str()), Some(finding.title.as_str()));
}

/// A thread asks again and again, under a lock made by hand, which other thread comes: the search for all executions is cut
/// before that one has done anything.
fn ask_under_a_lock(then: fn()) {
    let lock = Arc::new(AtomicUsize::new(0));
    let come = Arc::new(AtomicUsize::new(0));
    let locked = |lock: &AtomicUsize, work: &mut dyn FnMut()| {
        while lock.swap(1, Acquire) != 0 {
            thread::yield_now();
        }
        work();
        lock.store(0, Release);
    };
    let (its_lock, it) = (Arc::clone(&lock), Arc::clone(&come));
    let comes = thread::spawn(move || {
        locked(&its_lock, &mut || it.store(1, Relaxed));
        then();
    });
    let mut done = false;
    let mut rounds = 0;
    while !done {
        // A loop that counts is not one that only waits.
        rounds = std::hint::black_box(rounds + 1);
        locked(&lock, &mut || done = come.load(Relaxed) == 1);
    }
    comes.join().unwrap();
}

#[test]
fn what_comes_after_a_cut_is_looked_for() {
    let check = || Check::new().time_limit(Duration::from_secs(2)).max_events(300);
    let verdict = check().run(|| ask_under_a_lock(|| {})).unwrap();
    assert!(matches!(verdict, Verdict::Inconclusive(Reason::Events(_), _)), "{verdict}");
    let verdict = check().run(|| ask_under_a_lock(|| panic!("it has come"))).unwrap();
    assert!(verdict.violation().is_some(), "{verdict}");
}

#[test]
fn samplers_let_no_thread_wait_for_ever() {
    for sampler in ["random", "pct", "pos", "surw", "urw", "greybox", "digest"] {
        let check = Check::new().strategy(sampler).max_events(1_000_000).max_executions(100);
        let verdict = check.run(|| ask_under_a_lock(|| {})).unwrap();
        // One that waits until the end would come to as many in four executions.
        let events = verdict.stats().events;
        assert!(events < 4_000_000, "{sampler}: {events} {verdict}");
    }
}
