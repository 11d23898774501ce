//! Virtual time, and hashing without chance.

use std::sync::Arc;
use std::time::Duration;

use unpick::collections::{HashMap, HashSet};
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::mpsc::{RecvTimeoutError, channel};
use unpick::sync::{Condvar, Mutex};
use unpick::thread;
use unpick::time::{Instant, SystemTime, UNIX_EPOCH};
use unpick::{Check, Timeouts};

use crate::support::*;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn time_passes_only_by_sleeping() {
    holds(|| {
        let start = Instant::now();
        assert_eq!(start.elapsed(), Duration::ZERO);
        let wall = SystemTime::now();
        thread::sleep(5 * SECOND);
        assert_eq!(start.elapsed(), 5 * SECOND);
        assert_eq!(wall.elapsed().unwrap(), 5 * SECOND);
        assert_eq!(SystemTime::now() - 5 * SECOND, wall);
        assert_eq!(wall.duration_since(UNIX_EPOCH).unwrap().as_secs(), 1_767_225_600);
        assert_eq!(Instant::now() - start, 5 * SECOND);
        assert_eq!(start - Instant::now(), Duration::ZERO);
        assert_eq!(start.checked_duration_since(Instant::now()), None);
        assert!(start + 6 * SECOND > Instant::now());
        assert_eq!(start.checked_add(5 * SECOND), Some(Instant::now()));
    });
}

#[test]
fn clocks_follow_spawn_and_join() {
    let (executions, _) = holds(|| {
        let start = Instant::now();
        thread::sleep(SECOND);
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || {
            assert_eq!(start.elapsed(), SECOND);
            thread::sleep(2 * SECOND);
            y.store(1, Relaxed);
            Instant::now()
        });
        x.load(Relaxed);
        assert_eq!(start.elapsed(), SECOND);
        assert_eq!(t.join().unwrap(), start + 3 * SECOND);
        assert_eq!(start.elapsed(), 3 * SECOND);
    });
    assert_eq!(executions, 2);
}

/// The loop is one that waits, and needs no bound.
#[test]
fn a_loop_that_sleeps_waits() {
    let counts = holds(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.store(1, Release));
        while x.load(Acquire) == 0 {
            thread::sleep(SECOND);
        }
        t.join().unwrap();
    });
    // One, or two if the compiler leaves something in the frame that the first round has not.
    assert!(counts.0 <= 2, "{counts:?}");
    let finding = violated(|| {
        let x = AtomicUsize::new(0);
        while x.load(Acquire) == 0 {
            thread::sleep(SECOND);
        }
    });
    assert_eq!(finding.title, "livelock");
}

/// The loop ends after ten rounds, whatever others do.
#[test]
fn a_loop_with_a_deadline_ends() {
    let counts = holds(|| {
        let x = AtomicUsize::new(0);
        let start = Instant::now();
        let mut seen = false;
        while !seen && start.elapsed() < 10 * SECOND {
            thread::sleep(SECOND);
            seen = x.load(Acquire) != 0;
        }
        assert!(!seen);
        assert_eq!(start.elapsed(), 10 * SECOND);
    });
    assert_eq!(counts, (1, 0));
}

#[test]
fn outside_a_check_time_is_that_of_the_machine() {
    let (start, real) = (Instant::now(), std::time::Instant::now());
    thread::sleep(Duration::from_millis(2));
    assert!(start.elapsed() >= Duration::from_millis(2));
    assert!(std::time::Instant::from(Instant::now()) > real);
    assert!(SystemTime::now() > UNIX_EPOCH);
    assert!(!format!("{start:?} {UNIX_EPOCH:?}").is_empty());
}

/// Threads are started in the order of a map: with random keys the program would be refused.
#[test]
fn maps_are_walked_in_the_same_order_each_time() {
    let (executions, _) = holds(|| {
        let numbers: HashMap<usize, usize> = (0..6).map(|n| (n * 1000, n)).collect();
        let set: HashSet<usize> = numbers.values().copied().collect();
        let x = Arc::new(AtomicUsize::new(0));
        for (&key, &n) in numbers.iter().filter(|(_, n)| **n < 3) {
            x.fetch_add(key, Relaxed);
            if set.contains(&n) {
                let y = x.clone();
                thread::spawn(move || y.fetch_add(n, Relaxed)).join().unwrap();
            }
        }
        assert_eq!(x.load(Relaxed), 3003);
    });
    assert_eq!(executions, 1);
}

/// What a receiver that gives up between two messages does with them.
fn a_receiver_that_gives_up(forgets: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let (sender, receiver) = channel();
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        let mut sum = 0;
        // Two messages make a pair; what is left of one after a pause is thrown away.
        let mut half = None;
        while sum < 3 {
            match receiver.recv_timeout(SECOND) {
                Ok(number) => {
                    sum += number;
                    half = half.xor(Some(number));
                }
                Err(RecvTimeoutError::Timeout) if half.is_some() && forgets => sum -= half.take().unwrap(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        other.join().unwrap();
        assert_eq!(sum, 3, "a message was thrown away");
    }
}

#[test]
fn a_time_out_between_two_sends_is_found_and_the_mended_twin_holds() {
    let finding = violated(a_receiver_that_gives_up(true));
    assert!(finding.message.join("\n").contains("a message was thrown away"), "{finding:?}");
    holds(a_receiver_that_gives_up(false));
    // If time-outs cannot come between, there is no bug to find.
    for when in [Timeouts::Never, Timeouts::Last] {
        counts(&Check::new().timeouts(when).run(a_receiver_that_gives_up(true)).unwrap());
    }
}

#[test]
fn time_outs_that_never_fire_leave_deadlocks() {
    let programs: [fn(); 3] = [
        || thread::park_timeout(SECOND),
        || {
            let (_sender, receiver) = channel::<u8>();
            assert_eq!(receiver.recv_timeout(SECOND), Err(RecvTimeoutError::Timeout));
        },
        || {
            let (lock, condition) = (Mutex::new(0), Condvar::new());
            let (_guard, result) = condition.wait_timeout(lock.lock().unwrap(), SECOND).unwrap();
            assert!(result.timed_out());
        },
    ];
    for program in programs {
        for when in [Timeouts::Any, Timeouts::Last] {
            let verdict = Check::new().timeouts(when).run(program).unwrap();
            assert_eq!(counts(&verdict), (1, 0), "{when:?}");
        }
        let verdict = Check::new().timeouts(Timeouts::Never).run(program).unwrap();
        assert_eq!(verdict.violation().map(|finding| &*finding.title), Some("deadlock"));
    }
}

/// Threads that wait for various times say in which order they went on.
fn wakes_up_in_order() -> u64 {
    let order = Arc::new(AtomicUsize::new(0));
    let threads = [3, 1, 2].map(|seconds| {
        let order = order.clone();
        thread::spawn(move || {
            if seconds == 2 {
                thread::sleep(2 * SECOND);
            } else {
                thread::park_timeout(seconds * SECOND);
            }
            let before = order.load(Relaxed);
            order.store(before * 10 + seconds as usize, Relaxed);
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    order.load(Relaxed) as u64
}

#[test]
fn what_waits_shorter_comes_first_when_nothing_else_can_run() {
    for strategy in ["optimal", "random", "pct:3"] {
        let check = Check::new().strategy(strategy).timeouts(Timeouts::Last).max_executions(100);
        let (seen, verdict) = outcomes_in(&check, wakes_up_in_order);
        assert_eq!(seen, [123].into(), "{strategy}");
        assert!(strategy != "optimal" || verdict.holds());
    }
    let (seen, _) = outcomes_in(&Check::new().model("sc"), wakes_up_in_order);
    assert!(seen.contains(&123) && seen.contains(&321) && seen.contains(&1), "{seen:?}");
}

/// What others can still do is done before a time-out, in every order in which they may do it.
#[test]
fn time_outs_that_come_last_leave_the_other_orders_alone() {
    let (seen, verdict) = outcomes_in(&Check::new().timeouts(Timeouts::Last), || {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let threads = [1, 2].map(|number| {
            let x = x.clone();
            thread::spawn(move || x.store(number, SeqCst))
        });
        let late = y.clone();
        let (reads, main) = (x.clone(), thread::current());
        let third = thread::spawn(move || {
            let seen = reads.load(SeqCst);
            thread::park_timeout(SECOND);
            late.store(1, SeqCst);
            main.unpark();
            seen
        });
        let early = y.load(SeqCst);
        thread::park();
        assert_eq!(early, 0, "it was written when the main thread was parked");
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        digits([third.join().unwrap(), x.load(SeqCst)])
    });
    assert!(verdict.holds(), "{verdict}");
    assert_eq!(seen, [1, 2, 11, 12, 21, 22].into());
}

#[test]
fn a_violation_after_a_late_time_out_comes_back() {
    let program = || {
        let x = Arc::new(AtomicUsize::new(0));
        let theirs = x.clone();
        let other = thread::spawn(move || theirs.store(theirs.load(SeqCst) + 1, SeqCst));
        thread::park_timeout(SECOND);
        assert_eq!(x.load(SeqCst), 0, "the other thread had all the time in the world");
        other.join().unwrap();
    };
    for strategy in ["auto", "random"] {
        let check = Check::new().strategy(strategy).timeouts(Timeouts::Last).max_executions(100);
        let verdict = check.run(program).unwrap();
        let finding = verdict.violation().expect(strategy);
        assert!(told(finding).contains("time is over"), "{}", told(finding));
        let replayed = check.with(|name| (name == "UNPICK_REPLAY").then(|| finding.token.clone()));
        let again = replayed.unwrap().run(program).unwrap();
        assert_eq!(again.violation().expect("it comes back").message, finding.message);
    }
}

#[test]
fn strategies_over_traces_cannot_wait_until_nothing_else_runs() {
    let error = Check::new().strategy("source-dpor").timeouts(Timeouts::Last).run(|| {}).unwrap_err();
    assert!(error.to_string().contains("optimal"), "{error}");
}

/// Whatever one thread knows of another, it knows of the other's clock too.
#[test]
fn clocks_are_monotone_along_happens_before() {
    for (store, load) in [(Release, Acquire), (SeqCst, SeqCst), (Relaxed, Relaxed)] {
        let (seen, _) = outcomes_in(&Check::new(), move || {
            let flag = Arc::new(AtomicUsize::new(0));
            let theirs = flag.clone();
            let start = Instant::now();
            let other = thread::spawn(move || {
                thread::sleep(5 * SECOND);
                theirs.store(1, store);
                thread::sleep(SECOND);
            });
            let saw = flag.load(load);
            let early = start.elapsed().as_secs();
            other.join().unwrap();
            assert_eq!(start.elapsed(), 6 * SECOND);
            digits([saw, early as usize])
        });
        let expected = if load == Relaxed { [0, 10] } else { [0, 15] };
        assert_eq!(seen, expected.into(), "{load:?}");
    }
    holds(|| {
        let lock = Arc::new(Mutex::new(None));
        let theirs = lock.clone();
        let other = thread::spawn(move || {
            thread::sleep(SECOND);
            *theirs.lock().unwrap() = Some(Instant::now());
        });
        if let Some(then) = *lock.lock().unwrap() {
            assert!(Instant::now() >= then);
        }
        other.join().unwrap();
    });
}
