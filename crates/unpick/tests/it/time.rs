//! Virtual time, and hashing without chance.

use std::sync::Arc;
use std::time::Duration;

use unpick::collections::{HashMap, HashSet};
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::thread;
use unpick::time::{Instant, SystemTime, UNIX_EPOCH};

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
