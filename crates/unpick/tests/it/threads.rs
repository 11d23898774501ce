//! Threads and scopes.

use std::sync::Arc;

use unpick::cell::UnsafeCell;
use unpick::sync::Mutex;
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::{Check, choose, thread};

use crate::support::*;

#[test]
fn a_scope_borrows_and_returns() {
    let (executions, _) = holds(|| {
        let mut numbers = vec![1, 2, 3];
        let total = AtomicUsize::new(0);
        let lengths = thread::scope(|scope| {
            let a = scope.spawn(|| {
                total.fetch_add(numbers[0], Relaxed);
                numbers.len()
            });
            let b = scope.spawn(|| {
                total.fetch_add(numbers[1], Relaxed);
                numbers.len()
            });
            a.join().unwrap() + b.join().unwrap()
        });
        assert_eq!(lengths, 6);
        numbers.push(4);
        assert_eq!(total.into_inner(), 3);
    });
    assert_eq!(executions, 2);
}

#[test]
fn a_scope_waits_for_threads_that_are_not_joined() {
    holds(|| {
        let count = AtomicUsize::new(0);
        let mut plain = 0;
        thread::scope(|scope| {
            scope.spawn(|| count.fetch_add(1, Relaxed));
            scope.spawn(|| plain += 1);
        });
        assert_eq!((count.load(Relaxed), plain), (1, 1));
    });
}

#[test]
fn scopes_nest() {
    let (executions, _) = holds(|| {
        let count = AtomicUsize::new(0);
        thread::scope(|outer| {
            outer.spawn(|| {
                thread::scope(|inner| {
                    inner.spawn(|| count.fetch_add(1, Relaxed));
                    inner.spawn(|| count.fetch_add(1, Relaxed));
                });
                assert!(count.load(Relaxed) >= 2);
            });
        });
        assert_eq!(count.load(Relaxed), 2);
    });
    assert_eq!(executions, 2);
}

#[test]
fn threads_of_a_scope_spawn_more() {
    holds(|| {
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                scope.spawn(|| count.fetch_add(1, Relaxed));
                count.fetch_add(1, Relaxed);
            });
        });
        assert_eq!(count.load(Relaxed), 2);
    });
}

#[test]
fn results_come_back() {
    passes(|| {
        let t = thread::spawn(|| vec![String::from("a"), String::from("b")]);
        assert_eq!(t.join().unwrap().concat(), "ab");
        let nested = thread::spawn(|| thread::spawn(|| 7).join().unwrap() + 1);
        assert_eq!(nested.join().unwrap(), 8);
        let handle = thread::spawn(|| thread::spawn(|| 9));
        assert_eq!(handle.join().unwrap().join().unwrap(), 9);
    });
}

#[test]
fn a_join_synchronises() {
    holds(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        thread::spawn(move || y.store(1, Relaxed)).join().unwrap();
        assert_eq!(x.load(Relaxed), 1);
        x.store(2, Relaxed);
        let y = x.clone();
        thread::spawn(move || assert_eq!(y.load(Relaxed), 2)).join().unwrap();
    });
}

#[test]
fn a_handle_is_joined_by_another_thread() {
    holds(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let first = thread::spawn(move || y.store(1, Relaxed));
        let y = x.clone();
        let second = thread::spawn(move || {
            first.join().unwrap();
            assert_eq!(y.load(Relaxed), 1);
        });
        second.join().unwrap();
        assert_eq!(x.load(Relaxed), 1);
    });
}

#[test]
fn a_thread_that_ended_is_finished() {
    holds(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.store(1, Relaxed));
        x.load(Relaxed);
        let u = thread::spawn(move || {
            t.join().unwrap();
        });
        u.join().unwrap();
        let v = thread::spawn(|| ());
        let _ = format!("{v:?}");
        v.join().unwrap();
    });
}

#[test]
fn threads_are_spawned_in_a_loop_that_depends_on_values() {
    let (seen, _) = outcomes_in(&Check::new(), || {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.store(2, Relaxed));
        let threads: Vec<_> = (0..x.load(Relaxed))
            .map(|_| {
                let x = x.clone();
                thread::spawn(move || x.fetch_add(1, Relaxed))
            })
            .collect();
        threads.into_iter().for_each(|t| drop(t.join()));
        t.join().unwrap();
        x.load(Relaxed) as u64
    });
    assert_eq!(seen, [2, 4].into_iter().collect());
}

#[test]
fn a_lock_is_tried() {
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = mutex.clone();
        let t = thread::spawn(move || *theirs.lock().unwrap() += 1);
        let tried = match mutex.try_lock() {
            Ok(n) => *n,
            Err(_) => 9,
        };
        t.join().unwrap();
        tried as u64
    });
    assert_eq!(seen, [0, 1, 9].into_iter().collect());
    assert_eq!(counts(&verdict), (3, 0));
}

/// Whether the scope's thread was joined already depends on who is first.
#[test]
fn a_scoped_handle_is_joined_by_another_thread() {
    let (executions, _) = holds(|| {
        let x = AtomicUsize::new(0);
        thread::scope(|scope| {
            let first = scope.spawn(|| x.fetch_add(1, Relaxed));
            scope.spawn(|| {
                x.fetch_add(1, Relaxed);
                first.join().unwrap();
            });
            x.fetch_add(1, Relaxed);
        });
        assert_eq!(x.load(Relaxed), 3);
    });
    assert_eq!(executions, 6);
}

/// Whoever drops the last reference runs the destructor, which does something visible.
#[test]
fn the_last_owner_of_an_arc_drops_its_contents() {
    struct Noisy(Arc<AtomicUsize>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            self.0.fetch_add(10, Relaxed);
        }
    }
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let log = Arc::new(AtomicUsize::new(0));
        let noisy = Arc::new(Noisy(log.clone()));
        let (mine, theirs) = (noisy.clone(), noisy);
        let theirs_too = log.clone();
        let t = thread::spawn(move || {
            theirs.0.fetch_add(1, Relaxed);
            drop(theirs);
            theirs_too.load(Relaxed)
        });
        mine.0.fetch_add(1, Relaxed);
        drop(mine);
        let seen = log.load(Relaxed);
        assert!(t.join().unwrap() > 0);
        seen as u64
    });
    // The spawned thread may be the last, or main may.
    assert_eq!(seen, [1, 2, 11, 12].into_iter().filter(|&n| n != 11).collect(), "{verdict}");
}

// ------------------------------------------------------------ results that nobody takes

/// A result whose destructor does something visible.
struct Noisy(Arc<AtomicUsize>, usize);

impl Drop for Noisy {
    fn drop(&mut self) {
        self.0.fetch_add(self.1, Relaxed);
    }
}

/// The result is dropped by whoever goes last: the thread, or its handle.
#[test]
fn the_result_of_a_detached_thread_is_dropped_by_whoever_goes_last() {
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let log = Arc::new(AtomicUsize::new(0));
        let theirs = log.clone();
        let t = thread::spawn(move || {
            theirs.fetch_add(1, Relaxed);
            Noisy(theirs, 10)
        });
        drop(t);
        log.load(Relaxed) as u64
    });
    // 11: the thread was over before, or ends before main looks.
    assert_eq!(seen, [0, 1, 11].into_iter().collect(), "{verdict}");
    counts(&verdict);
}

/// A replay lets main go first, whoever went first when the events were new: who drops the result
/// must not depend on that.
#[test]
fn a_detached_result_is_dropped_by_the_same_thread_in_a_replay() {
    for parts in 0..64 {
        let has = move |part: u32| parts & (1 << part) != 0;
        let (executions, _) = holds(move || {
            let log = Arc::new(AtomicUsize::new(0));
            let x = Arc::new(AtomicUsize::new(0));
            let (theirs, y) = (log.clone(), x.clone());
            let t = thread::spawn(move || {
                has(0).then(|| y.load(Relaxed));
                has(1).then(|| y.store(2, Relaxed));
                Noisy(theirs, 1)
            });
            has(2).then(|| x.store(1, Relaxed));
            has(3).then(|| x.load(Relaxed));
            drop(t);
            has(4).then(|| log.load(Relaxed));
            has(5).then(|| choose(2));
            x.load(Relaxed);
        });
        assert!(executions >= 2, "{parts}: {executions}");
    }
}

#[test]
fn a_handle_dropped_after_the_end_drops_the_result() {
    let (seen, _) = outcomes_in(&Check::new(), || {
        let log = Arc::new(AtomicUsize::new(0));
        let ended = Arc::new(AtomicUsize::new(0));
        let (theirs, over) = (log.clone(), ended.clone());
        let t = thread::spawn(move || {
            over.store(1, Release);
            Noisy(theirs, 10)
        });
        while !t.is_finished() {}
        let before = log.load(Relaxed);
        drop(t);
        digits([before / 10, log.load(Relaxed) / 10])
    });
    assert_eq!(seen, [1].into_iter().collect());
}

/// Dropping synchronises: the destructor may use what the other side wrote without atomics.
#[test]
fn whoever_drops_the_result_knows_what_the_other_side_did() {
    struct Shared(UnsafeCell<usize>);
    unsafe impl Sync for Shared {}
    struct Plain(Arc<Shared>);
    impl Drop for Plain {
        fn drop(&mut self) {
            self.0.0.with_mut(|n| unsafe { *n += 1 });
        }
    }
    let (executions, _) = holds(|| {
        let shared = Arc::new(Shared(UnsafeCell::new(0)));
        let theirs = Plain(shared.clone());
        let t = thread::spawn(move || theirs);
        shared.0.with_mut(|n| unsafe { *n += 1 });
        drop(t);
    });
    assert_eq!(executions, 2);
}

#[test]
fn detached_threads_with_results_in_a_vector() {
    holds(|| {
        let log = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|n| {
                let log = log.clone();
                thread::spawn(move || Noisy(log, n + 1))
            })
            .collect();
        drop(threads);
        assert!(log.load(Relaxed) <= 3);
    });
}

/// A scope waits for the destructor as it waits for the thread.
#[test]
fn a_scope_waits_for_results_that_nobody_takes() {
    holds(|| {
        let log = Arc::new(AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| Noisy(log.clone(), 1));
            let kept = scope.spawn(|| Noisy(log.clone(), 2));
            drop(kept.join().unwrap());
        });
        assert_eq!(log.load(Relaxed), 3);
    });
}

#[test]
fn a_result_whose_destructor_panics() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            panic!("from the result");
        }
    }
    let finding = violated(|| drop(thread::spawn(|| Bad)));
    assert!(told(&finding).contains("from the result"), "{}", told(&finding));
    let finding = violated(|| {
        thread::scope(|scope| drop(scope.spawn(|| Bad)));
    });
    assert!(told(&finding).contains("from the result"), "{}", told(&finding));
}

/// What is found only when a thread ends before its handle is dropped can be replayed.
#[test]
fn a_violation_behind_a_detached_result_is_told() {
    for late in [false, true] {
        let finding = violated(move || {
            let log = Arc::new(AtomicUsize::new(0));
            let theirs = log.clone();
            let t = thread::spawn(move || Noisy(theirs, 10));
            log.load(Relaxed);
            drop(t);
            assert!((log.load(Relaxed) == 10) != late, "as it must be");
        });
        assert!(told(&finding).contains("as it must be"), "{}", told(&finding));
    }
    let finding = violated(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.store(1, Relaxed));
        if x.load(Relaxed) == 1 && t.is_finished() {
            panic!("as it must be");
        }
    });
    assert!(told(&finding).contains("as it must be"), "{}", told(&finding));
    // Threads that ended before anybody looked whether threads end.
    let finding = violated(|| {
        thread::spawn(|| ()).join().unwrap();
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.store(1, Relaxed));
        if x.load(Relaxed) == 1 && t.is_finished() {
            panic!("as it must be");
        }
    });
    assert!(told(&finding).contains("as it must be"), "{}", told(&finding));
}

#[test]
fn a_check_says_how_often_more_became_known() {
    let asks = |asks: bool| {
        move || {
            let child = thread::spawn(|| ());
            // Not in the first execution, which is thrown away.
            let _ended = asks && choose(2) == 1 && child.is_finished();
            child.join().unwrap();
        }
    };
    let restarts = |program| run(program).summary().statistics.restarts;
    assert_eq!((restarts(asks(false)), restarts(asks(true))), (0, 1));
    // What was known when a violation was found is part of its token: its replay need not learn anything.
    let asks_in_time = || {
        let child = thread::spawn(|| ());
        assert!(choose(2) == 0 || !child.is_finished(), "it may have ended");
        child.join().unwrap();
    };
    let token = violated(asks_in_time).token;
    let replay = Check::new().with(|name| (name == "UNPICK_REPLAY").then(|| token.clone())).unwrap();
    let again = replay.run(asks_in_time).unwrap();
    assert!(again.violation().is_some());
    assert_eq!(again.summary().statistics.restarts, 0);
}
