//! Panics that the program catches, and goes on with later: which one is blamed.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::Arc;

use unpick::sync::Mutex;
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::{choose, thread};

use crate::panics::{OnDrop, all_is_well};
use crate::support::*;

type Payload = Box<dyn Any + Send>;

/// The payload of a panic that is caught.
fn caught(f: impl FnOnce()) -> Payload {
    catch_unwind(AssertUnwindSafe(f)).unwrap_err()
}

/// The report, which must blame one panic and not the other.
#[track_caller]
fn blames(program: impl Fn() + Send + Sync + 'static, right: &str, wrong: &str) -> String {
    let report = told(&violated(program));
    assert!(report.contains(right) && !report.contains(wrong), "{report}");
    assert!(report.contains("rethrown.rs:"), "no place: {report}");
    report
}

#[test]
fn the_first_of_two() {
    blames(
        || {
            let a = caught(|| panic!("one is first"));
            let _b = caught(|| panic!("one is second"));
            resume_unwind(a);
        },
        "one is first",
        "one is second",
    );
    // With operations between them, the execution that is shown must lead to the right one.
    blames(
        || {
            let x = AtomicUsize::new(0);
            let a = caught(|| panic!("{} is first", x.fetch_add(1, Relaxed)));
            let _b = caught(|| panic!("{} is second", x.fetch_add(1, Relaxed)));
            let _guard = OnDrop(|| {
                x.fetch_add(1, Relaxed);
            });
            resume_unwind(a);
        },
        "0 is first",
        "is second",
    );
    all_is_well();
}

#[test]
fn the_second_of_two_and_one_that_is_not_caught() {
    let second = || {
        let _a = caught(|| panic!("is first"));
        let b = caught(|| panic!("is second"));
        resume_unwind(b);
    };
    blames(second, "is second", "is first");
    let last = || {
        let _a = caught(|| panic!("is first"));
        let _b = caught(|| panic!("is second"));
        panic!("is third");
    };
    blames(last, "is third", "is first");
}

#[test]
fn the_same_text_at_two_places() {
    let first = line!() + 3;
    let report = told(&violated(|| {
        // Only the boxes tell them apart.
        let a = caught(|| panic!("same"));
        let _b = caught(|| panic!("same"));
        resume_unwind(a);
    }));
    assert!(report.contains(&format!("rethrown.rs:{first}:")), "{report}");
}

#[test]
fn payloads_that_are_no_text() {
    #[derive(Debug)]
    struct Number(#[allow(dead_code)] usize);
    let first = line!() + 3;
    let report = told(&violated(|| {
        // Values of the same type and size.
        let a = caught(|| panic_any(Number(1)));
        let _b = caught(|| panic_any(Number(2)));
        resume_unwind(a);
    }));
    assert!(report.contains(&format!("rethrown.rs:{first}:")), "{report}");
    // Without size there is no box.
    let second = line!() + 2;
    let report = told(&violated(|| {
        let a = caught(|| panic_any(()));
        let _b = caught(|| panic!("text"));
        resume_unwind(a);
    }));
    assert!(report.contains(&format!("rethrown.rs:{second}:")), "{report}");
}

#[test]
fn payloads_in_other_boxes() {
    // The box as a value, which happens to those who forget to dereference it.
    blames(
        || {
            let a = caught(|| panic!("is first"));
            let _b = caught(|| panic!("is second"));
            resume_unwind(Box::new(a));
        },
        "is first",
        "is second",
    );
    // The value, in a new box.
    blames(
        || {
            let number = choose(1);
            let a = caught(|| panic!("{number} is first"));
            let _b = caught(|| panic!("{number} is second"));
            let text = a.downcast::<String>().unwrap();
            resume_unwind(Box::new(*text));
        },
        "is first",
        "is second",
    );
    // A new value: it is of nobody, and is what the report shows.
    let report = told(&violated(|| {
        let a = caught(|| panic!("is first"));
        let text = a.downcast_ref::<&str>().unwrap();
        resume_unwind(Box::new(format!("wrapped: {text}")));
    }));
    assert!(report.contains("wrapped: is first"), "{report}");
}

#[test]
fn from_another_thread() {
    let report = blames(
        || {
            let a = thread::spawn(|| panic!("is first"));
            let b = thread::spawn(|| panic!("is second"));
            let (a, _b): (Payload, Payload) = (a.join().unwrap_err(), b.join().unwrap_err());
            resume_unwind(a);
        },
        "is first",
        "is second",
    );
    assert!(report.contains("passed on by"), "{report}");
    // By way of a third one, and a lock.
    blames(
        || {
            let kept = Arc::new(Mutex::new(None));
            let theirs = Arc::clone(&kept);
            let first = thread::spawn(move || {
                *theirs.lock().unwrap() = Some(caught(|| panic!("is first")));
                let _b = caught(|| panic!("is second"));
            });
            first.join().unwrap();
            let second = thread::spawn(move || resume_unwind(kept.lock().unwrap().take().unwrap()));
            resume_unwind(second.join().unwrap_err());
        },
        "is first",
        "is second",
    );
    all_is_well();
}

#[test]
fn what_is_handled_elsewhere_is_no_failure() {
    let (executions, _) = passes(|| {
        let kept = caught(|| panic!("is first"));
        let other = thread::spawn(move || resume_unwind(kept));
        let again = other.join().unwrap_err();
        let last = caught(move || resume_unwind(again));
        assert_eq!(last.downcast_ref::<&str>(), Some(&"is first"));
    });
    assert_eq!(executions, 1);
    // Handled once, and not the second time.
    blames(
        || {
            let first = thread::spawn(|| panic!("is first"));
            let payload = first.join().unwrap_err();
            let _ = caught(|| panic!("is second"));
            drop(thread::spawn(move || resume_unwind(payload)));
        },
        "is first",
        "is second",
    );
}

#[test]
fn a_result_that_is_unwrapped() {
    // The one whose result is unwrapped, and not the one that was looked at last.
    blames(
        || {
            let a = thread::spawn(|| panic!("is first"));
            let b = thread::spawn(|| panic!("is second"));
            let a = a.join();
            assert!(b.join().is_err());
            a.unwrap();
        },
        "is first",
        "is second",
    );
    // Through a thread that passes it on in the same way.
    let report = told(&violated(|| {
        let outer = thread::spawn(|| thread::spawn(|| panic!("innermost")).join().unwrap());
        outer.join().unwrap();
    }));
    assert!(report.contains("innermost") && !report.contains("Any { .. }"), "{report}");
    // If both are there, nobody can tell.
    let report = told(&violated(|| {
        let a = thread::spawn(|| panic!("is first"));
        let b = thread::spawn(|| panic!("is second"));
        let both = (a.join(), b.join());
        both.0.unwrap();
    }));
    assert!(report.contains("may be `is first`") && report.contains("may be `is second`"), "{report}");
}

#[test]
fn a_scope_passes_on_what_its_threads_had() {
    blames(
        || {
            let before = thread::spawn(|| panic!("is before"));
            thread::scope(|scope| {
                scope.spawn(|| panic!("in the scope"));
                assert!(before.join().is_err());
            });
        },
        "in the scope",
        "is before",
    );
}

#[test]
fn in_a_destructor_while_another_unwinds() {
    // Caught within the destructor: the outer one goes on.
    blames(
        || {
            let _guard = OnDrop(|| drop(caught(|| panic!("is inner"))));
            panic!("is outer");
        },
        "is outer",
        "is inner",
    );
    // An inner one that is kept, and goes on later.
    blames(
        || {
            let kept = Cell::new(None);
            let outer = caught(|| {
                let _guard = OnDrop(|| kept.set(Some(caught(|| panic!("is inner")))));
                panic!("is outer");
            });
            drop(outer);
            resume_unwind(kept.take().unwrap());
        },
        "is inner",
        "is outer",
    );
    all_is_well();
}

#[test]
fn a_lock_is_poisoned_by_a_panic_from_elsewhere() {
    let (executions, _) = holds(|| {
        let lock = Arc::new(Mutex::new(0));
        let payload = thread::spawn(|| panic!("elsewhere")).join().unwrap_err();
        let _ = caught(|| {
            let _guard = lock.lock().unwrap();
            resume_unwind(payload);
        });
        assert!(lock.is_poisoned());
        // One that the program has made, without a panic.
        let other = Arc::new(Mutex::new(0));
        let theirs = Arc::clone(&other);
        let thread = thread::spawn(move || {
            let _guard = theirs.lock().unwrap();
            resume_unwind(Box::new("made up"));
        });
        assert!(thread.join().is_err() && other.is_poisoned());
    });
    assert_eq!(executions, 1);
}

#[test]
fn who_unwinds_is_told_from_others() {
    // The first thread unwinds, and waits in a destructor for the second one, which must not think that it unwinds itself.
    holds(|| {
        let lock = Arc::new(Mutex::new(()));
        let theirs = Arc::clone(&lock);
        let second = thread::spawn(move || {
            assert!(!thread::panicking());
            drop(theirs.lock().unwrap());
        });
        let first = caught(move || {
            let mut second = Some(second);
            let _guard = OnDrop(move || {
                second.take().unwrap().join().unwrap();
                assert!(thread::panicking());
            });
            panic!("waits");
        });
        drop(first);
        assert!(!lock.is_poisoned() && !thread::panicking());
    });
}

#[test]
fn a_thread_that_is_given_up_while_it_unwinds_leaves_the_others_alone() {
    let (executions, blocked) = holds(|| {
        let (lock, x) = (Arc::new(Mutex::new(())), Arc::new(AtomicUsize::new(0)));
        let (theirs, flag) = (Arc::clone(&lock), Arc::clone(&x));
        let other = thread::spawn(move || {
            drop(theirs.lock().unwrap());
            // In the executions in which it sees the other value, it ends here.
            let unwound = caught(|| {
                let _guard = OnDrop(|| unpick::assume(flag.load(Relaxed) == 0));
                panic!("is caught");
            });
            drop(unwound);
            assert!(!thread::panicking());
        });
        x.store(1, Relaxed);
        assert!(!thread::panicking());
        drop(lock.lock().unwrap());
        other.join().unwrap();
        assert!(!lock.is_poisoned());
    });
    assert!(executions + blocked > 2 && blocked > 0, "{executions} and {blocked}");
}
