//! Going on after a violation.

use std::sync::Arc;

use unpick::cell::UnsafeCell;
use unpick::sync::Mutex;
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::{Check, Verdict, thread};

use crate::support::*;

/// Breaks in two ways: a panic of the main thread, and a deadlock.
fn broken() {
    let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
    let x = Arc::new(AtomicUsize::new(0));
    let (theirs, y) = (locks.clone(), x.clone());
    let t = thread::spawn(move || {
        let first = theirs.0.lock().unwrap();
        let second = theirs.1.lock().unwrap();
        drop((first, second));
        assert_eq!(y.fetch_add(1, Relaxed), 0, "the spawned thread came second");
    });
    let second = locks.1.lock().unwrap();
    let first = locks.0.lock().unwrap();
    drop((first, second));
    assert_eq!(x.fetch_add(1, Relaxed), 0, "the main thread came second");
    let _ = t.join();
}

fn titles(verdict: &Verdict) -> Vec<&str> {
    verdict.violations().map(|finding| finding.title.as_str()).collect()
}

#[test]
fn the_first_violation_is_enough_unless_more_are_wanted() {
    let verdict = run(broken);
    assert_eq!(titles(&verdict).len(), 1);
    assert_eq!(verdict.violations().next(), verdict.violation());
    let two = Check::new().keep_going(2).run(broken).unwrap();
    assert_eq!(titles(&two).len(), 2);
    assert!(two.to_string().starts_with("violated: "), "{two}");
    assert!(two.to_string().contains(", and 1 more ("), "{two}");
}

#[test]
fn each_violation_is_found_once_with_a_report_and_a_token() {
    let verdict = Check::new().keep_going(10).run(broken).unwrap();
    let mut titles = titles(&verdict);
    titles.sort_unstable();
    assert_eq!(titles, ["deadlock", "panic"]);
    for finding in verdict.violations() {
        let again = child(
            &test_name!(a_token_leads_to_its_own_violation),
            &[("UNPICK_REPLAY", finding.token.as_str()), ("WANTED", &finding.title)],
        );
        assert!(again.status.success(), "{}", text_of(&again));
    }
}

#[test]
fn a_token_leads_to_its_own_violation() {
    if is_child() {
        let verdict = Check::new().run(broken).unwrap();
        assert_eq!(titles(&verdict), [std::env::var("WANTED").unwrap()]);
    }
}

#[test]
fn places_tell_violations_apart() {
    let verdict = Check::new().keep_going(usize::MAX).run(|| match unpick::choose(5) {
        0 => panic!("a"),
        1 => panic!("b"),
        n @ 2..=3 => panic!("the same place: {n}"),
        _ => {}
    });
    let verdict = verdict.unwrap();
    assert_eq!(titles(&verdict), ["panic", "panic", "panic"]);
    assert_eq!(verdict.stats().executions, 5);
    let numbers: Vec<u64> = verdict.violations().map(|finding| finding.execution).collect();
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn races_on_two_cells_are_two_violations() {
    struct Cells(UnsafeCell<usize>, UnsafeCell<usize>);
    unsafe impl Sync for Cells {}
    let verdict = Check::new().keep_going(5).run(|| {
        let cells = Cells(UnsafeCell::new(0), UnsafeCell::new(0));
        let first = unpick::choose(2) == 0;
        thread::scope(|scope| {
            scope.spawn(|| {
                let cells = &cells;
                if first { cells.0.with_mut(drop) } else { cells.1.with_mut(drop) }
            });
            let cells = &cells;
            if first { cells.0.with(drop) } else { cells.1.with(drop) }
        });
    });
    assert_eq!(titles(&verdict.unwrap()), ["data race", "data race"]);
}

#[test]
fn a_program_that_holds_holds() {
    let verdict = Check::new().keep_going(5).run(|| assert!(unpick::choose(3) < 3)).unwrap();
    assert_eq!(counts(&verdict), (3, 0));
    assert_eq!(verdict.violations().count(), 0);
}

#[test]
fn the_limit_on_executions_still_counts() {
    let check = Check::new().keep_going(5).max_executions(2);
    let verdict = check.run(|| assert_ne!(unpick::choose(3), 2)).unwrap();
    assert!(matches!(verdict, Verdict::Inconclusive(..)), "{verdict}");
    let verdict = check.run(|| assert_ne!(unpick::choose(3), 0)).unwrap();
    assert_eq!(titles(&verdict), ["panic"]);
}

#[test]
fn the_message_of_a_test_says_how_many() {
    if is_child() {
        Check::new().check(|| match unpick::choose(3) {
            0 => panic!("a"),
            1 => panic!("b"),
            _ => {}
        });
    }
    let name = test_name!(the_message_of_a_test_says_how_many);
    let text = text_of(&child(&name, &[("UNPICK_KEEP_GOING", "5")]));
    assert!(text.contains("unpick found 2 violations"), "{text}");
    assert!(text.contains("error: panic (1 of 2)") && text.contains("error: panic (2 of 2)"), "{text}");
    assert_eq!(text.matches("\nreplay: UNPICK_REPLAY=").count(), 2, "{text}");
    assert_eq!(text.matches("\njson: ").count(), 2, "{text}");
    let text = text_of(&child(&name, &[]));
    assert!(text.contains("unpick found a violation") && text.contains("error: panic\n"), "{text}");
}

/// A thread that is stuck while a panic unwinds it wears out its OS thread; the search goes on in
/// another.
#[test]
fn the_search_goes_on_after_a_panic_that_got_stuck() {
    struct Stuck(Arc<Mutex<()>>);
    impl Drop for Stuck {
        fn drop(&mut self) {
            drop(self.0.lock());
        }
    }
    let verdict = Check::new().keep_going(5).run(|| {
        let mutex = Arc::new(Mutex::new(()));
        match unpick::choose(3) {
            0 => {
                let guard = mutex.lock().unwrap();
                let stuck = Stuck(mutex.clone());
                let t = thread::spawn(move || {
                    let _stuck = stuck;
                    panic!("and then stuck");
                });
                let _ = t.join();
                drop(guard);
            }
            1 => panic!("another"),
            _ => {}
        }
    });
    let verdict = verdict.unwrap();
    assert_eq!(titles(&verdict), ["deadlock", "panic"]);
    assert_eq!(verdict.stats().executions, 3);
}
