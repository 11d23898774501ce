//! Loops that take a lock, look, and give it back.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::Mutex;
use unpick::sync::atomic::{AtomicBool, fence};
use unpick::{Check, Reason, Verdict, thread};

use crate::support::*;

const STRATEGIES: [&str; 6] = ["optimal", "in-order", "dpor", "source-dpor", "chess", "icb"];

/// Looks under a lock until a number is there.
fn poll(lock: &Mutex<usize>, number: usize) {
    while *lock.lock().unwrap() != number {
        thread::yield_now();
    }
}

#[test]
fn a_loop_that_looks_under_a_lock_waits() {
    for strategy in STRATEGIES {
        let (_, verdict) = outcomes_in(&Check::new().strategy(strategy), || {
            let lock = Arc::new(Mutex::new(0));
            let theirs = lock.clone();
            let other = thread::spawn(move || {
                poll(&theirs, 1);
                *theirs.lock().unwrap() = 2;
            });
            *lock.lock().unwrap() = 1;
            poll(&lock, 2);
            other.join().unwrap();
            0_u64
        });
        assert!(verdict.holds(), "{strategy}: {verdict}");
    }
}

#[test]
fn a_loop_that_looks_for_what_does_not_come_is_a_livelock() {
    for strategy in STRATEGIES {
        let verdict = Check::new().strategy(strategy).run(|| {
            let lock = Arc::new(Mutex::new(0));
            let theirs = lock.clone();
            thread::spawn(move || *theirs.lock().unwrap() = 1);
            poll(&lock, 2);
        });
        let verdict = verdict.unwrap_or_else(|error| panic!("{error}"));
        let finding = verdict.violation().unwrap_or_else(|| panic!("{strategy}: {verdict}"));
        assert_eq!(finding.title, "livelock", "{strategy}");
    }
}

/// Others may see that the thread looks, and let it see something for that reason.
#[test]
fn a_round_that_was_seen_counts() {
    for strategy in ["optimal", "in-order"] {
        let check = Check::new().strategy(strategy).max_events(200);
        let (seen, verdict) = outcomes_in(&check, || {
            let lock = Arc::new(Mutex::new(0));
            let theirs = lock.clone();
            let other = thread::spawn(move || {
                let failed = theirs.try_lock().is_err();
                *theirs.lock().unwrap() = 1;
                failed
            });
            poll(&lock, 1);
            u64::from(other.join().unwrap())
        });
        assert_eq!(seen, [0, 1].into(), "{strategy}: {verdict}");
    }
}

#[test]
fn a_loop_that_counts_under_a_lock_ends() {
    for (strategy, rounds) in [("optimal", 20), ("in-order", 20), ("dpor", 10), ("chess", 10)] {
        let (seen, verdict) = outcomes_in(&Check::new().strategy(strategy), move || {
            let lock = Arc::new(Mutex::new(0));
            let theirs = lock.clone();
            let other = thread::spawn(move || *theirs.lock().unwrap());
            for _ in 0..rounds {
                *lock.lock().unwrap() += 1;
            }
            other.join().unwrap() as u64
        });
        assert!(verdict.holds(), "{strategy}: {verdict}");
        assert_eq!(seen, (0..=rounds as u64).collect(), "{strategy}: {verdict}");
    }
}

#[test]
fn a_loop_that_looks_under_a_lock_ends_when_it_is_drawn() {
    for strategy in ["random", "pct:3", "pos", "surw"] {
        let verdict = Check::new().strategy(strategy).max_executions(200).run(|| {
            let lock = Arc::new(Mutex::new(0));
            let theirs = lock.clone();
            let other = thread::spawn(move || *theirs.lock().unwrap() = 1);
            poll(&lock, 1);
            other.join().unwrap();
        });
        let verdict = verdict.unwrap_or_else(|error| panic!("{error}"));
        let cut = matches!(verdict, Verdict::Inconclusive(Reason::Events(_), _));
        assert!(!cut && verdict.violation().is_none(), "{strategy}: {verdict}");
    }
}

/// Looks at a flag, with room on the stack that nobody writes to: there is what earlier calls left.
#[inline(never)]
fn looks_from_afar(flag: &AtomicBool) -> bool {
    let room = MaybeUninit::<[u64; 512]>::uninit();
    black_box(&room);
    flag.load(Acquire)
}

/// The same under a lock.
#[inline(never)]
fn looks_under_a_lock_from_afar(lock: &Mutex<usize>) -> bool {
    let room = MaybeUninit::<[u64; 512]>::uninit();
    black_box(&room);
    *lock.lock().unwrap() == 1
}

#[test]
fn what_calls_leave_on_the_stack_is_not_the_state_of_a_loop_around_a_lock() {
    for strategy in ["optimal", "in-order"] {
        let verdict = Check::new().strategy(strategy).run(|| {
            let lock = Arc::new(Mutex::new(0));
            let theirs = lock.clone();
            thread::spawn(move || *theirs.lock().unwrap() = 1);
            while !looks_under_a_lock_from_afar(&lock) {
                fence(Acquire);
            }
        });
        let verdict = verdict.unwrap_or_else(|error| panic!("{error}"));
        assert!(verdict.holds(), "{strategy}: {verdict}");
    }
}

/// Waits for a flag, and calls something else in each round.
fn wait(looks: fn(&AtomicBool) -> bool) {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = flag.clone();
    thread::spawn(move || theirs.store(true, Release));
    while !looks(&flag) {
        fence(Acquire);
    }
}

#[test]
fn what_calls_leave_on_the_stack_is_not_the_state_of_a_loop() {
    for strategy in STRATEGIES {
        let check = Check::new().strategy(strategy);
        let run = |looks| check.run(move || wait(looks)).unwrap_or_else(|error| panic!("{error}"));
        let (near, afar) = (run(|flag| flag.load(Acquire)), run(looks_from_afar));
        // More rounds are needed if the first finds something else on the stack than the next ones.
        let ((afar, _), (near, _)) = (counts(&afar), counts(&near));
        assert!(afar <= 3 * near, "{strategy}: {afar} {near}");
    }
}

/// Waits for a flag; whether a round was made in vain is kept on the heap.
fn wait_for_a_flag() -> bool {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = flag.clone();
    let other = thread::spawn(move || theirs.store(true, Release));
    let mut waited = Box::new(false);
    while !flag.load(Acquire) {
        **black_box(&mut waited) = true;
    }
    other.join().unwrap();
    *waited
}

#[test]
fn a_loop_that_is_not_recognised_is_cut_and_named() {
    let check = || Check::new().loops(false).max_rounds(5);
    for strategy in STRATEGIES {
        let (waited, verdict) = outcomes_in(&check().strategy(strategy), || u64::from(wait_for_a_flag()));
        let Verdict::Inconclusive(Reason::Rounds(places), _) = &verdict else {
            panic!("{strategy}: {verdict}")
        };
        assert!(places.len() == 1 && places[0].contains("polling.rs"), "{strategy}: {places:?}");
        assert_eq!(waited.into_iter().collect::<Vec<_>>(), [0, 1], "{strategy}");
    }
    let verdict = check().run(|| assert!(!wait_for_a_flag())).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verdict.violation().map(|finding| finding.title.as_str()), Some("panic"), "{verdict}");
}

#[test]
fn a_loop_that_is_not_recognised_does_not_end_a_sampled_execution() {
    for strategy in ["random", "pct:3"] {
        let check = Check::new().strategy(strategy).loops(false).max_executions(100);
        let (waited, _) = outcomes_in(&check, || u64::from(wait_for_a_flag()));
        assert_eq!(waited.into_iter().collect::<Vec<_>>(), [0, 1], "{strategy}");
    }
}
