//! The strategies over traces, on closures: what they find, and that they lose nothing that sequential
//! consistency allows.

use std::sync::Arc;

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::atomic::{AtomicBool, AtomicUsize};
use unpick::sync::{Condvar, Mutex, RwLock, mpsc};
use unpick::{Check, Reason, Verdict, hint, thread};

use crate::support::*;

/// Strategies that explore all that sequential consistency allows.
const WHOLE: [&str; 8] =
    ["chess", "dpor", "dpor-cr", "dpor-sleep", "source-dpor", "cb-dpor", "cb-dpor-nosleep", "icb"];

struct Shared(UnsafeCell<usize>);
unsafe impl Sync for Shared {}

/// Checks that all strategies find the violation, and that its token leads back to it.
#[track_caller]
fn found_by_all(title: &str, program: impl Fn() + Clone + Send + Sync + 'static) {
    for strategy in WHOLE.into_iter().chain(["chess-atomic"]) {
        let verdict = Check::new().strategy(strategy).run(program.clone()).unwrap();
        let Some(finding) = verdict.violation() else { panic!("{strategy}: {verdict}") };
        assert_eq!((finding.title.as_str(), finding.strategy.as_str()), (title, strategy));
        let token = finding.token.clone();
        let replay = Check::new().with(|name| (name == "UNPICK_REPLAY").then(|| token.clone())).unwrap();
        let again = replay.run(program.clone()).unwrap_or_else(|error| panic!("{strategy}: {error}"));
        let again = again.violation().unwrap();
        assert_eq!(again.title, title);
        assert_eq!(again.trace, finding.trace, "{strategy}");
    }
}

/// Checks that all strategies give the outcomes that the optimal search has under `sc`.
#[track_caller]
fn same_outcomes<T: Into<u64>>(program: impl Fn() -> T + Clone + Send + Sync + 'static) -> usize {
    let (wanted, verdict) = outcomes_in(&Check::new().model("sc"), program.clone());
    assert!(verdict.holds(), "{verdict}");
    for strategy in WHOLE {
        let (found, verdict) = outcomes_in(&Check::new().strategy(strategy), program.clone());
        assert!(verdict.holds(), "{strategy}: {verdict}");
        assert_eq!(found, wanted, "{strategy}: {verdict}");
        let traces = verdict.summary().traces.unwrap();
        assert!(traces.classes <= traces.complete && !traces.cut, "{strategy}: {verdict}");
    }
    wanted.len()
}

#[test]
fn a_race_is_found() {
    found_by_all("data race", || {
        let shared = Arc::new(Shared(UnsafeCell::new(0)));
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || theirs.0.with_mut(|cell| unsafe { *cell += 1 }));
        shared.0.with_mut(|cell| unsafe { *cell += 1 });
        other.join().unwrap();
    });
}

#[test]
fn a_race_behind_a_relaxed_flag_is_found() {
    found_by_all("data race", || {
        let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicBool::new(false)));
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || {
            theirs.0.0.with_mut(|cell| unsafe { *cell = 1 });
            theirs.1.store(true, Relaxed);
        });
        if shared.1.load(Acquire) {
            shared.0.0.with(|cell| unsafe { assert_eq!(*cell, 1) });
        }
        other.join().unwrap();
    });
}

#[test]
fn a_race_that_one_order_of_a_lock_hides_is_found() {
    found_by_all("data race", || {
        let shared = Arc::new((Shared(UnsafeCell::new(0)), Mutex::new(())));
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || {
            drop(theirs.1.lock().unwrap());
            theirs.0.0.with_mut(|cell| unsafe { *cell = 2 });
        });
        shared.0.0.with_mut(|cell| unsafe { *cell = 1 });
        drop(shared.1.lock().unwrap());
        other.join().unwrap();
    });
}

#[test]
fn a_lost_update_is_found() {
    found_by_all("panic", || {
        let number = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&number);
        let other = thread::spawn(move || {
            if let Err(seen) = theirs.compare_exchange(0, 1, SeqCst, SeqCst) {
                theirs.swap(seen + 1, SeqCst);
            }
        });
        if let Err(seen) = number.compare_exchange(0, 1, SeqCst, SeqCst) {
            number.swap(seen + 1, SeqCst);
        }
        number.fetch_add(1, SeqCst);
        other.join().unwrap();
        assert_eq!(number.load(SeqCst), 3);
    });
}

#[test]
fn a_deadlock_is_found() {
    found_by_all("deadlock", || {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let theirs = Arc::clone(&locks);
        let other = thread::spawn(move || {
            let _second = theirs.1.lock().unwrap();
            let _first = theirs.0.lock().unwrap();
        });
        {
            let _first = locks.0.lock().unwrap();
            let _second = locks.1.lock().unwrap();
        }
        other.join().unwrap();
    });
}

#[test]
fn a_loop_that_waits_for_nothing_is_found() {
    found_by_all("livelock", || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&flag);
        let other = thread::spawn(move || while !theirs.load(SeqCst) {});
        flag.store(false, SeqCst);
        other.join().unwrap();
    });
}

#[test]
fn a_spin_lock_holds() {
    let outcomes = same_outcomes(|| {
        let lock = Arc::new((AtomicBool::new(false), Shared(UnsafeCell::new(0))));
        let enter = |lock: &(AtomicBool, Shared), number: usize| {
            while lock.0.compare_exchange(false, true, Acquire, Relaxed).is_err() {
                hint::spin_loop();
            }
            lock.1.0.with_mut(|cell| unsafe { *cell = *cell * 10 + number });
            lock.0.store(false, Release);
        };
        let threads: Vec<_> = (1..3)
            .map(|number| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || enter(&lock, number))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        lock.1.0.with(|cell| unsafe { *cell as u64 })
    });
    assert_eq!(outcomes, 2);
}

#[test]
fn loops_that_try_a_lock_lose_nothing() {
    let outcomes = same_outcomes(|| {
        let lock = Arc::new(Mutex::new(0u64));
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || *theirs.lock().unwrap() += 1);
        let seen = loop {
            if let Ok(mut value) = lock.try_lock() {
                *value *= 2;
                break *value;
            }
        };
        other.join().unwrap();
        seen + 4 * *lock.lock().unwrap()
    });
    assert_eq!(outcomes, 2);
    let outcomes = same_outcomes(|| {
        let lock = Arc::new(RwLock::new(0u64));
        let read = || {
            let lock = Arc::clone(&lock);
            thread::spawn(move || *lock.read().unwrap())
        };
        let (first, second) = (read(), read());
        loop {
            if let Ok(mut value) = lock.try_write() {
                *value = 1;
                break;
            }
        }
        first.join().unwrap() + 2 * second.join().unwrap()
    });
    assert_eq!(outcomes, 4);
}

#[test]
fn a_loop_that_tries_a_lock_which_is_never_free_is_found() {
    found_by_all("livelock", || {
        let lock = Arc::new(RwLock::new(0));
        let theirs = Arc::clone(&lock);
        let other = thread::spawn(move || while theirs.try_write().is_err() {});
        let guard = lock.read().unwrap();
        other.join().unwrap();
        drop(guard);
    });
}

#[test]
fn loops_that_look_at_two_places_lose_nothing() {
    let outcomes = same_outcomes(|| {
        let flags = Arc::new([const { AtomicUsize::new(0) }; 3]);
        let threads: Vec<_> = (0..2)
            .map(|number| {
                let flags = Arc::clone(&flags);
                thread::spawn(move || flags[number].store(1, SeqCst))
            })
            .collect();
        while flags[0].load(SeqCst) == 0 && flags[1].load(SeqCst) == 0 {}
        let seen = digits([flags[0].load(SeqCst), flags[1].load(SeqCst)]);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        seen
    });
    assert_eq!(outcomes, 3);
}

#[test]
fn mutexes_and_conditions_lose_nothing() {
    let outcomes = same_outcomes(|| {
        let shared = Arc::new((Mutex::new(0u64), Condvar::new()));
        let threads: Vec<_> = (1..3)
            .map(|number| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let mut value = shared.0.lock().unwrap();
                    *value = *value * 10 + number;
                    shared.1.notify_one();
                })
            })
            .collect();
        let mut value = shared.0.lock().unwrap();
        while *value == 0 {
            value = shared.1.wait(value).unwrap();
        }
        let seen = *value;
        drop(value);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        seen
    });
    assert_eq!(outcomes, 4);
}

#[test]
fn channels_and_shared_locks_lose_nothing() {
    let outcomes = same_outcomes(|| {
        let (sender, receiver) = mpsc::channel();
        let lock = Arc::new(RwLock::new(0usize));
        let (other, theirs) = (sender.clone(), Arc::clone(&lock));
        let first = thread::spawn(move || {
            *theirs.write().unwrap() = 1;
            other.send(1usize).unwrap();
        });
        let theirs = Arc::clone(&lock);
        let second = thread::spawn(move || {
            let seen = *theirs.read().unwrap();
            sender.send(2 + seen).unwrap();
        });
        let seen = digits([receiver.recv().unwrap(), receiver.recv().unwrap()]);
        first.join().unwrap();
        second.join().unwrap();
        seen
    });
    assert_eq!(outcomes, 4);
}

#[test]
fn choices_and_panics_that_are_handled_lose_nothing() {
    let outcomes = same_outcomes(|| {
        let number = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&number);
        let other = thread::spawn(move || {
            let choice = unpick::choose(2);
            theirs.fetch_add(1 + choice, SeqCst);
            assert_eq!(theirs.load(SeqCst), 1 + choice, "the other thread was faster");
            choice
        });
        number.fetch_add(3, SeqCst);
        digits([number.load(SeqCst), other.join().unwrap_or(9)])
    });
    assert_eq!(outcomes, 5);
}

#[test]
fn weak_operations_are_named_as_a_limit() {
    let limit = |strategy: &str, model: &str, order| {
        let check = Check::new().strategy(strategy).model(model);
        let verdict = check.run(move || {
            let flags = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
            let theirs = Arc::clone(&flags);
            let other = thread::spawn(move || {
                theirs.0.store(true, order);
                theirs.1.load(SeqCst)
            });
            flags.1.store(true, SeqCst);
            let first = flags.0.load(SeqCst);
            assert!(other.join().unwrap() || first);
        });
        let verdict = verdict.unwrap();
        assert_eq!(verdict.holds(), strategy != "optimal" || order == SeqCst, "{verdict}");
        verdict.assumptions().iter().any(|line| line.contains("weaker than SeqCst, first at"))
    };
    assert!(limit("source-dpor", "cpp20", Relaxed));
    assert!(!limit("source-dpor", "cpp20", SeqCst));
    assert!(!limit("source-dpor", "sc", Relaxed), "the model says it already");
    assert!(!limit("optimal", "cpp20", Relaxed));
}

#[test]
fn a_lock_is_no_limit() {
    let verdict = Check::new().strategy("source-dpor").run(|| {
        let number = Arc::new((Mutex::new(0), Condvar::new()));
        let theirs = Arc::clone(&number);
        let other = thread::spawn(move || {
            *theirs.0.lock().unwrap() += 1;
            theirs.1.notify_all();
        });
        drop(number.1.wait_while(number.0.lock().unwrap(), |number| *number == 0).unwrap());
        other.join().unwrap();
    });
    let verdict = verdict.unwrap();
    assert!(verdict.holds(), "{verdict}");
    assert!(!verdict.assumptions().iter().any(|line| line.contains("SeqCst")), "{verdict}");
}

#[test]
fn a_bound_is_told() {
    let lost = || {
        let number = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&number);
        let other = thread::spawn(move || theirs.store(theirs.load(SeqCst) + 1, SeqCst));
        number.store(number.load(SeqCst) + 1, SeqCst);
        other.join().unwrap();
        assert_eq!(number.load(SeqCst), 2);
    };
    for strategy in ["chess", "cb-dpor", "cb-dpor-nosleep", "icb"] {
        let run = |bound: &str| Check::new().strategy(&format!("{strategy}{bound}")).run(lost).unwrap();
        let verdict = run(":0");
        let Verdict::Inconclusive(Reason::Preemptions(0), summary) = &verdict else { panic!("{verdict}") };
        assert_eq!((summary.traces.unwrap().complete, summary.traces.unwrap().classes), (2, 2));
        let text = "executions with more than 0 preemptions were left out";
        assert!(verdict.to_string().contains(text), "{verdict}");
        let text = "with at most 0 preemptions, 2 traces, 2 inequivalent, 0 stuck";
        assert!(verdict.to_string().contains(text), "{verdict}");
        for bound in [":1", ""] {
            let verdict = run(bound);
            assert_eq!(verdict.violation().map(|finding| finding.title.as_str()), Some("panic"), "{verdict}");
        }
    }
    let verdict = Check::new().strategy("chess-atomic").run(lost).unwrap();
    assert!(matches!(verdict, Verdict::Inconclusive(Reason::Points, _)), "{verdict}");
}

#[test]
fn violations_that_differ_are_all_found() {
    for strategy in WHOLE {
        let check = Check::new().strategy(strategy).keep_going(10);
        let verdict = check.run(|| match unpick::choose(4) {
            0 => panic!("zero"),
            1 => panic!("one"),
            _ => {}
        });
        assert_eq!(verdict.unwrap().violations().count(), 2, "{strategy}");
    }
}

#[test]
fn a_strategy_that_does_not_exist_is_an_error() {
    let error = Check::new().strategy("dfs").run(|| {}).unwrap_err();
    assert!(error.to_string().contains("there is no strategy `dfs`"), "{error}");
}

#[test]
fn a_search_in_order_without_a_bound_ends() {
    // Writes could take effect out of order, whatever the bound.
    let verdict = Check::new().strategy("in-order").max_executions(1_000).run(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&x);
        let other = thread::spawn(move || theirs.store(1, Relaxed));
        x.store(2, Relaxed);
        other.join().unwrap();
    });
    let verdict = verdict.unwrap_or_else(|error| panic!("{error}"));
    assert!(verdict.stats().executions < 10, "{verdict}");
}

/// Three threads that count in an atomic of `std` between their steps, and pass on what they have counted.
fn hidden_counts() -> usize {
    let hidden = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let (sum, last) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (hidden, sum, last) = (Arc::clone(&hidden), Arc::clone(&sum), Arc::clone(&last));
            thread::spawn(move || {
                for _ in 0..2 {
                    sum.fetch_add(hidden.fetch_add(1, SeqCst), AcqRel);
                    last.store(hidden.fetch_add(1, SeqCst), Release);
                }
            })
        })
        .collect();
    let before = hidden.fetch_add(1, SeqCst);
    sum.fetch_add(before, AcqRel);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    last.load(Acquire)
}

#[test]
fn what_threads_share_unseen_is_as_it_was_in_order() {
    for bound in [Some(0), Some(1), Some(2), None] {
        let check = bound.into_iter().fold(Check::new().strategy("in-order"), Check::preemption_bound);
        let verdict = check.run(|| assert!(hidden_counts() < 9)).unwrap_or_else(|error| panic!("{error}"));
        assert!(verdict.stats().executions > 1, "{bound:?}: {verdict}");
        assert!(!matches!(verdict, Verdict::Violated(_)), "{bound:?}: {verdict}");
    }
    let check = Check::new().strategy("in-order:2");
    let verdict = check.run(|| assert_ne!(hidden_counts(), 6)).unwrap_or_else(|error| panic!("{error}"));
    let Verdict::Violated(violated) = verdict else { panic!("{verdict}") };
    assert_eq!(violated.finding.title, "panic");
}
