//! What threads share unseen, in values that are made once.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize as StdAtomicUsize;

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::{LazyLock, OnceLock};
use unpick::{Check, Error, thread};

use crate::support::*;

/// Two threads draw numbers that decide which of two variables each writes. What main saw of the other thread before it
/// drew, its number, and both variables. `early`: main gives a sign instead of looking for one.
fn numbered(early: bool, next: impl Fn() -> usize + Copy + Send + 'static) -> u64 {
    next();
    let slots = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    slots.iter().for_each(|slot| slot.store(0, Relaxed));
    let sign = Arc::new(AtomicUsize::new(0));
    let (theirs, end) = (Arc::clone(&slots), Arc::clone(&sign));
    let other = thread::spawn(move || {
        theirs[next() % 2].store(1, Relaxed);
        end.store(1, Release);
    });
    let seen = if early {
        sign.store(2, Release);
        0
    } else {
        sign.load(Acquire)
    };
    let mine = next();
    slots[mine % 2].store(2, Relaxed);
    other.join().unwrap();
    digits([seen, mine, slots[0].load(Relaxed), slots[1].load(Relaxed)])
}

/// What [`numbered`] gives if the first number is 4.
const NUMBERED: [u64; 3] = [512, 621, 1621];

static LAZY: LazyLock<StdAtomicUsize> = LazyLock::new(|| StdAtomicUsize::new(4));
static ONCE: OnceLock<std::sync::Mutex<usize>> = OnceLock::new();

/// The next number of a lock that is not seen.
fn next_of_once() -> usize {
    let mut number = ONCE.get_or_init(|| std::sync::Mutex::new(3)).lock().unwrap();
    *number += 1;
    *number
}

#[test]
fn a_hidden_counter_in_a_value_that_is_made_once_has_an_order() {
    let (seen, verdict) = outcomes_in(&Check::new(), || numbered(false, || LAZY.fetch_add(1, Relaxed)));
    assert_eq!((seen, counts(&verdict)), (NUMBERED.into_iter().collect(), (3, 0)));
    assert_eq!(outcomes("cpp20", || numbered(false, next_of_once)), NUMBERED.into_iter().collect());
}

#[test]
fn every_strategy_gives_hidden_counters_an_order() {
    for strategy in ["optimal", "in-order:2", "source-dpor", "icb"] {
        let check = Check::new().strategy(strategy);
        let (seen, verdict) = outcomes_in(&check, || numbered(false, || LAZY.fetch_add(1, Relaxed)));
        assert_eq!(seen, NUMBERED.into_iter().collect(), "{verdict}");
    }
}

/// A counter whose type does not tell what it is.
struct Numbers(StdAtomicUsize);

static NUMBERS: LazyLock<Numbers> = LazyLock::new(|| Numbers(StdAtomicUsize::new(4)));

#[test]
fn a_replay_that_goes_astray_is_mended() {
    let (seen, verdict) = outcomes_in(&Check::new(), || numbered(false, || NUMBERS.0.fetch_add(1, Relaxed)));
    assert_eq!((seen, counts(&verdict)), (NUMBERED.into_iter().collect(), (3, 0)));
}

#[test]
fn a_reference_that_is_kept_is_not_followed() {
    let verdict = Check::new().run(|| {
        let counter: &'static StdAtomicUsize = &LAZY;
        numbered(true, move || counter.fetch_add(1, Relaxed));
    });
    let Err(error @ Error::Diverged { .. }) = verdict else { panic!("{verdict:?}") };
    assert!(error.to_string().contains("atomics, locks and counts of `std`"), "{error}");
}

static LAST: LazyLock<Numbers> = LazyLock::new(|| Numbers(StdAtomicUsize::new(0)));

#[test]
fn a_violation_that_hangs_on_a_hidden_counter_is_told() {
    let program = || {
        let number = || LAST.0.fetch_add(1, Relaxed);
        number();
        let other = thread::spawn(number);
        assert_eq!(number(), 1, "main came last");
        other.join().unwrap();
    };
    for strategy in ["random", "in-order:2"] {
        let verdict = Check::new().strategy(strategy).max_executions(1_000).run(program);
        let verdict = verdict.unwrap_or_else(|error| panic!("{strategy}: {error}"));
        let finding = verdict.violation().unwrap_or_else(|| panic!("{strategy}: {verdict}"));
        assert!(told(finding).contains("main came last"), "{}", told(finding));
        let again = Check::new().with(|name| (name == "UNPICK_REPLAY").then(|| finding.token.clone()));
        let verdict = again.unwrap().run(program).unwrap();
        assert_eq!(verdict.violation().map(|again| &again.message), Some(&finding.message), "{verdict}");
    }
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
