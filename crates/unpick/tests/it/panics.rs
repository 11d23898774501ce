//! Panics in unusual places, and that all goes on afterwards.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::{Mutex, PoisonError};
use unpick::{choose, thread};

use crate::support::*;

/// Runs a closure when dropped.
pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Later checks are as good as ever, and nobody thinks that a panic is going on.
#[track_caller]
pub(crate) fn all_is_well() {
    assert!(!std::thread::panicking());
    let (executions, _) = holds(|| {
        assert!(!std::thread::panicking());
        let n = Arc::new(Mutex::new(0));
        let m = n.clone();
        let t = thread::spawn(move || {
            assert!(!std::thread::panicking());
            *m.lock().unwrap() += 1;
        });
        *n.lock().unwrap() += 1;
        t.join().unwrap();
        assert_eq!(*n.lock().unwrap(), 2);
    });
    assert_eq!(executions, 2);
    let finding = violated(|| panic!("still seen"));
    assert!(told(&finding).contains("still seen"));
}

#[test]
fn in_a_destructor() {
    let finding = violated(|| {
        let _guard = OnDrop(|| panic!("dropped"));
    });
    assert!(told(&finding).contains("dropped"), "{}", told(&finding));
    let finding = violated(|| {
        let t = thread::spawn(|| drop(OnDrop(|| panic!("dropped"))));
        t.join().unwrap();
    });
    assert!(told(&finding).contains("dropped"), "{}", told(&finding));
    all_is_well();
}

#[test]
fn in_a_scope() {
    let finding = violated(|| {
        let x = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| x.fetch_add(1, Relaxed));
            scope.spawn(|| assert_eq!(x.fetch_add(1, Relaxed), 0, "not the first"));
        });
    });
    assert!(told(&finding).contains("not the first"), "{}", told(&finding));
    let finding = violated(|| {
        let x = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| x.fetch_add(1, Relaxed));
            panic!("in the closure of the scope");
        });
    });
    assert!(told(&finding).contains("in the closure of the scope"), "{}", told(&finding));
    all_is_well();
}

#[test]
fn in_a_scope_and_handled() {
    let (executions, _) = holds(|| {
        let x = AtomicUsize::new(0);
        thread::scope(|scope| {
            let bad = scope.spawn(|| {
                x.fetch_add(1, Relaxed);
                panic!("handled");
            });
            let good = scope.spawn(|| x.fetch_add(1, Relaxed));
            assert!(bad.join().is_err());
            good.join().unwrap();
        });
        assert_eq!(x.load(Relaxed), 2);
    });
    assert_eq!(executions, 2);
    all_is_well();
}

#[test]
fn payloads_reach_the_one_who_joins() {
    passes(|| {
        let n = choose(2);
        let text = thread::spawn(move || panic!("number {n}")).join().unwrap_err();
        assert_eq!(text.downcast_ref::<String>().map(String::as_str), Some(format!("number {n}").as_str()));
        let number = thread::spawn(|| std::panic::panic_any(7u8)).join().unwrap_err();
        assert_eq!(number.downcast_ref::<u8>(), Some(&7));
    });
}

#[test]
fn while_holding_a_lock() {
    holds(|| {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = mutex.clone();
        let t = thread::spawn(move || {
            let mut guard = theirs.lock().unwrap_or_else(PoisonError::into_inner);
            *guard = 1;
            panic!("with the lock");
        });
        // Before the panic the lock is as new; after it, poisoned.
        match mutex.lock() {
            Ok(guard) => assert_eq!(*guard, 0),
            Err(poisoned) => assert_eq!(*poisoned.into_inner(), 1),
        }
        assert!(t.join().is_err());
        assert!(mutex.is_poisoned());
        assert_eq!(*mutex.lock().unwrap_err().into_inner(), 1);
        assert!(matches!(mutex.try_lock(), Err(std::sync::TryLockError::Poisoned(_))));
        mutex.clear_poison();
        assert_eq!(*mutex.lock().unwrap(), 1);
        let mutex = Arc::try_unwrap(mutex).unwrap();
        assert_eq!(mutex.into_inner().unwrap(), 1);
    });
}

#[test]
fn poison_spreads_by_unwrap() {
    let finding = violated(|| {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = mutex.clone();
        let t = thread::spawn(move || {
            let _guard = theirs.lock().unwrap();
            panic!("with the lock");
        });
        let _ = t.join();
        *mutex.lock().unwrap() += 1;
    });
    let report = told(&finding);
    assert!(report.contains("PoisonError") || report.contains("with the lock"), "{report}");
    all_is_well();
}

#[test]
fn a_panic_before_locking_poisons_nothing() {
    holds(|| {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = mutex.clone();
        let t = thread::spawn(move || {
            let _guard = OnDrop(|| *theirs.lock().unwrap() += 1);
            panic!("without the lock");
        });
        *mutex.lock().unwrap() += 1;
        assert!(t.join().is_err());
        assert_eq!(*mutex.lock().unwrap(), 2);
        assert!(!mutex.is_poisoned());
    });
}

#[test]
fn while_others_are_blocked() {
    // The other thread waits for a lock that the panicking thread gives back by unwinding.
    holds(|| {
        let mutex = Arc::new(Mutex::new(0));
        let guard = mutex.lock().unwrap();
        let theirs = mutex.clone();
        let waiting = thread::spawn(move || theirs.lock().is_err());
        let t = thread::scope(|scope| scope.spawn(|| panic!("while another waits")).join());
        assert!(t.is_err());
        drop(guard);
        assert!(!waiting.join().unwrap());
    });
    let finding = violated(|| {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = mutex.clone();
        let _guard = mutex.lock().unwrap();
        thread::spawn(move || drop(theirs.lock()));
        panic!("while another waits");
    });
    assert!(told(&finding).contains("while another waits"));
    let finding = violated(|| {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = mutex.clone();
        let guard = mutex.lock().unwrap();
        std::mem::forget(guard);
        let t = thread::spawn(move || drop(theirs.lock()));
        thread::spawn(|| panic!("while all others wait"));
        t.join().unwrap();
    });
    assert!(told(&finding).contains("while all others wait"), "{}", told(&finding));
    all_is_well();
}

#[test]
fn a_thread_that_is_abandoned_while_it_unwinds() {
    // The destructor waits for ever, so the fiber stays in the middle of its panic.
    let finding = violated(|| {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = mutex.clone();
        std::mem::forget(mutex.lock().unwrap());
        let t = thread::spawn(move || {
            let _guard = OnDrop(|| drop(theirs.lock()));
            panic!("and then it waits");
        });
        let _ = t.join();
    });
    assert!(["panic", "deadlock"].contains(&finding.title.as_str()), "{}", told(&finding));
    all_is_well();
    // The same in executions that count for nothing; others follow.
    let verdict = run(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let theirs = x.clone();
        let t = thread::spawn(move || {
            let _guard = OnDrop(|| unpick::assume(theirs.load(Relaxed) == 0));
            if theirs.load(Relaxed) < 2 {
                panic!("handled");
            }
        });
        x.store(1, Relaxed);
        x.store(2, Relaxed);
        assert!(t.join().is_err() || !std::thread::panicking());
    });
    assert!(verdict.violation().is_none_or(|f| f.title == "panic"), "{verdict}");
    all_is_well();
}

#[test]
fn nobody_is_panicking_while_another_thread_is() {
    // T1 stands in its destructor, unwinding, while main looks.
    holds(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let theirs = x.clone();
        let t = thread::spawn(move || {
            let _guard = OnDrop(|| {
                theirs.store(1, Relaxed);
                theirs.store(2, Relaxed);
            });
            panic!("slowly");
        });
        let mutex = Mutex::new(0);
        for _ in 0..2 {
            let guard = mutex.lock().unwrap();
            x.load(Relaxed);
            drop(guard);
        }
        assert!(!mutex.is_poisoned());
        assert!(t.join().is_err());
    });
}

#[test]
fn many_executions_with_handled_panics() {
    let (executions, _) = holds(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let x = x.clone();
                thread::spawn(move || assert_eq!(x.fetch_add(1, Relaxed), 0))
            })
            .collect();
        let failed = threads.into_iter().filter_map(|t| t.join().err()).count();
        assert_eq!(failed, 3);
    });
    assert_eq!(executions, 24);
    all_is_well();
}

#[test]
fn catch_unwind_in_the_program_goes_on() {
    // Whether a panic that is caught counts is for the documentation to say; it must not abort, and
    // what follows runs.
    let reached = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let theirs = reached.clone();
    let verdict = run(move || {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.store(1, Relaxed));
        let caught = catch_unwind(AssertUnwindSafe(|| assert_eq!(x.load(Relaxed), 0)));
        t.join().unwrap();
        let _ = caught;
        theirs.fetch_add(1, Relaxed);
    });
    assert!(reached.load(Relaxed) >= 2);
    assert!(verdict.violation().is_none_or(|f| f.title == "panic"), "{verdict}");
    all_is_well();
}

#[test]
fn a_check_that_fails_prints_its_report_once() {
    if is_child() {
        unpick::check(|| panic!("for the report"));
        return;
    }
    let output = child(&test_name!(a_check_that_fails_prints_its_report_once), &[]);
    let text = text_of(&output);
    assert_eq!(output.status.code(), Some(101), "{text}");
    assert_eq!(text.matches("error: panic").count(), 1, "{text}");
    assert!(text.contains("unpick found a violation"), "{text}");
    assert!(!text.contains("thread 'unpick'"), "panics of the program are silent: {text}");
}

/// Two panics in one, each in a process of its own: the process ends, but not without a report.
macro_rules! last_panics {
    ($($name:ident: $program:expr, $says:expr;)*) => {
        $(
            #[test]
            fn $name() {
                if is_child() {
                    unpick::check($program);
                    return;
                }
                let name = test_name!($name);
                let output = child(&name, &[]);
                let text = text_of(&output);
                assert_eq!(output.status.code(), Some(101), "{text}");
                for part in $says {
                    assert!(text.contains(part), "no `{part}` in {text}");
                }
                assert!(text.contains("error: panic"), "{text}");
                let token = text.split("UNPICK_REPLAY=").nth(1).and_then(|rest| rest.split_whitespace().next());
                let again = text_of(&child(&name, &[("UNPICK_REPLAY", token.unwrap())]));
                let report = |text: &str| {
                    let start = text.find("error: panic").unwrap_or_else(|| panic!("no report in {text}"));
                    crate::violations::body(&text[start..])
                };
                assert_eq!(report(&again), report(&text));
            }
        )*
    };
}

last_panics! {
    in_a_destructor_of_a_thread_while_unwinding: || {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || {
            let _guard = OnDrop(|| assert_eq!(y.load(Relaxed), 0, "second"));
            assert_eq!(y.load(Relaxed), 0, "first");
        });
        x.store(1, Relaxed);
        let _ = t.join();
    }, ["first", "second"];

    in_a_function_that_cannot_unwind: || {
        extern "C" fn stubborn() {
            panic!("inside");
        }
        stubborn();
    }, ["inside"];
}
