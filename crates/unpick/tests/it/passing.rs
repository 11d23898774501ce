//! Loops that ask what time it is.

use std::time::Duration;

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use unpick::thread;
use unpick::time::Instant;

use crate::support::*;

const SECOND: Duration = Duration::from_secs(1);

/// Whether a thread that waits for a second for another one was in time; `late`: the other one never says so.
fn waits_for_a_second(late: bool) -> impl Fn() -> u64 + Send + Sync + 'static {
    move || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || {
            if !late {
                theirs.store(true, Release);
            }
        });
        let start = Instant::now();
        let mut seen = 1;
        while !flag.load(Acquire) {
            if start.elapsed() > SECOND {
                seen = 2;
                break;
            }
        }
        other.join().unwrap();
        seen
    }
}

#[test]
fn a_loop_that_asks_the_clock_goes_on_or_gives_up() {
    let (seen, verdict) = outcomes_in(&unpick::Check::new(), waits_for_a_second(false));
    assert_eq!(seen, [1, 2].into(), "{verdict}");
    assert!(verdict.holds() && counts(&verdict).0 < 40, "{verdict}");
    let (seen, verdict) = outcomes_in(&unpick::Check::new().allow_vacuous(true), waits_for_a_second(true));
    assert_eq!(seen, [2].into(), "{verdict}");
    assert!(verdict.holds(), "{verdict}");
}

#[test]
fn a_loop_that_goes_on_whatever_time_it_is_is_a_livelock() {
    let finding = violated(|| {
        let flag = AtomicBool::new(false);
        let start = Instant::now();
        let mut late = false;
        while !flag.load(Relaxed) {
            late |= start.elapsed() > SECOND;
        }
        assert!(late);
    });
    assert_eq!(finding.title, "livelock");
}
