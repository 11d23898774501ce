//! What threads share unseen, in values that are made once.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize as StdAtomicUsize;

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::{LazyLock, OnceLock};
use unpick::{Check, Error, thread};

use crate::support::*;

/// Numbers of a counter that the engine does not see decide which of two variables a thread writes. What main saw of
/// the other thread, its number, and both variables.
fn numbered(next: impl Fn() -> usize + Copy + Send + 'static) -> u64 {
    next();
    let slots = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let done = Arc::new(AtomicUsize::new(0));
    let (theirs, end) = (Arc::clone(&slots), Arc::clone(&done));
    let other = thread::spawn(move || {
        theirs[next() % 2].store(1, Relaxed);
        end.store(1, Release);
    });
    let seen = done.load(Acquire);
    let mine = next();
    slots[mine % 2].store(2, Relaxed);
    other.join().unwrap();
    digits([seen, mine, slots[0].load(Relaxed), slots[1].load(Relaxed)])
}

/// What [`numbered`] gives if the counter starts at 4.
const NUMBERED: [u64; 3] = [512, 621, 1621];

static LAZY: LazyLock<StdAtomicUsize> = LazyLock::new(|| StdAtomicUsize::new(4));
static ONCE: OnceLock<StdAtomicUsize> = OnceLock::new();

#[test]
fn a_hidden_counter_in_a_lazy_static_has_an_order() {
    let (seen, verdict) = outcomes_in(&Check::new(), || numbered(|| LAZY.fetch_add(1, Relaxed)));
    assert_eq!(seen, NUMBERED.into_iter().collect());
    assert!(verdict.holds(), "{verdict}");
}

#[test]
fn a_hidden_counter_in_a_once_lock_has_an_order() {
    let next = || ONCE.get_or_init(|| StdAtomicUsize::new(4)).fetch_add(1, Relaxed);
    let (seen, verdict) = outcomes_in(&Check::new(), move || numbered(next));
    assert_eq!(seen, NUMBERED.into_iter().collect());
    assert!(verdict.holds(), "{verdict}");
}

#[test]
fn every_strategy_gives_hidden_counters_an_order() {
    let bounded = Check::new().preemption_bound(2);
    let checks = ["optimal", "in-order", "source-dpor", "icb"].map(|name| Check::new().strategy(name));
    for check in checks.into_iter().chain([bounded]) {
        let (seen, verdict) = outcomes_in(&check, || numbered(|| LAZY.fetch_add(1, Relaxed)));
        assert_eq!(seen, NUMBERED.into_iter().collect(), "{verdict}");
    }
}

static FAILS: LazyLock<StdAtomicUsize> = LazyLock::new(|| StdAtomicUsize::new(0));

#[test]
fn a_violation_that_hangs_on_a_hidden_counter_is_told() {
    let program = || {
        let other = thread::spawn(|| FAILS.fetch_add(1, Relaxed));
        assert_eq!(FAILS.fetch_add(1, Relaxed), 0, "the other came first");
        other.join().unwrap();
    };
    let finding = violated(program);
    assert!(told(&finding).contains("the other came first"), "{}", told(&finding));
    let again = Check::new().with(|name| (name == "UNPICK_REPLAY").then(|| finding.token.clone()));
    let verdict = again.unwrap().run(program).unwrap();
    assert_eq!(verdict.violation().map(|again| &again.message), Some(&finding.message), "{verdict}");
}

static SEEN: LazyLock<AtomicUsize> = LazyLock::new(|| AtomicUsize::new(0));

#[test]
fn uses_that_need_no_order_have_none() {
    let (executions, _) = holds(|| {
        let other = thread::spawn(|| SEEN.load(Relaxed));
        SEEN.load(Relaxed);
        other.join().unwrap();
    });
    // Either of them makes the value.
    assert_eq!(executions, 2);
}

#[test]
fn a_reference_that_is_kept_is_not_followed() {
    let verdict = Check::new().run(|| {
        let counter: &'static StdAtomicUsize = &LAZY;
        numbered(move || counter.fetch_add(1, Relaxed));
    });
    let Err(error @ Error::Diverged { .. }) = verdict else { panic!("{verdict:?}") };
    assert!(error.to_string().contains("atomics, locks and counts of `std`"), "{error}");
}
