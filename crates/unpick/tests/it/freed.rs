//! Plain uses of freed memory, which are no operations; and atomics that are written over.

use std::hint::black_box;
use std::ptr;

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicPtr;
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use unpick::{Check, thread};

use crate::support::{child, holds, is_child, run, test_name, text_of, told, violated};

/// A reader follows a pointer that main takes out and frees; if `waits`, when the reader has ended.
fn reclaim(waits: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new(AtomicPtr::new(Box::into_raw(Box::new(7_u64))));
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            let value = theirs.load(Acquire);
            if !value.is_null() {
                black_box(unsafe { *value });
            }
        });
        let value = shared.swap(ptr::null_mut(), AcqRel);
        if waits {
            reader.join().unwrap();
            drop(unsafe { Box::from_raw(value) });
        } else {
            drop(unsafe { Box::from_raw(value) });
            reader.join().unwrap();
        }
    }
}

#[test]
fn a_plain_use_after_free_is_found_whoever_comes_first() {
    let finding = violated(reclaim(false));
    let report = told(&finding);
    assert_eq!(finding.title, "use after free", "{report}");
    assert!(report.contains("read by T1") && report.contains("freed by main"), "{report}");
    assert!(report.contains("freed.rs"), "{report}");
    assert_eq!(holds(reclaim(true)), (2, 0));
}

#[test]
fn its_token_brings_it_back() {
    let finding = violated(reclaim(false));
    assert_eq!(finding.title, "use after free");
    if is_child() {
        return;
    }
    let again = child(&test_name!(its_token_brings_it_back), &[("UNPICK_REPLAY", &finding.token)]);
    assert!(again.status.success(), "{}", text_of(&again));
}

#[test]
fn every_strategy_that_explores_finds_it() {
    for strategy in ["optimal", "in-order"] {
        let verdict = Check::new().strategy(strategy).run(reclaim(false)).unwrap();
        let title = verdict.violation().map(|finding| finding.title.as_str());
        assert_eq!(title, Some("use after free"), "{strategy}: {verdict}");
    }
}

#[test]
fn a_thread_that_has_published_is_stopped_behind_its_store() {
    let latch = |before: bool| {
        move || {
            struct Shared(*mut (AtomicUsize, u64));
            unsafe impl Send for Shared {}
            let latch = Box::into_raw(Box::new((AtomicUsize::new(0), 0)));
            let theirs = Shared(latch);
            let setter = thread::spawn(move || {
                let theirs = theirs;
                unsafe {
                    if before {
                        (*theirs.0).1 += 1;
                    }
                    (*theirs.0).0.store(1, Release);
                    if !before {
                        (*theirs.0).1 += 1;
                    }
                }
            });
            unsafe {
                while (*latch).0.load(Acquire) == 0 {}
                drop(Box::from_raw(latch));
            }
            setter.join().unwrap();
        }
    };
    assert_eq!(violated(latch(false)).title, "use after free");
    holds(latch(true));
}

#[test]
fn what_is_run_again_is_counted_and_only_where_others_may_have_a_pointer() {
    let private = run(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let other = thread::spawn(move || {
            drop(black_box(Box::new(1)));
            theirs.store(1, Release);
        });
        flag.load(Acquire);
        drop(black_box(vec![1, 2]));
        other.join().unwrap();
    });
    assert_eq!((private.holds(), private.stats().again, private.stats().restarts), (true, 0, 0), "{private}");
    let handed_over = run(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let (block, theirs) = (Box::new(5_u64), flag.clone());
        let other = thread::spawn(move || {
            theirs.store(1, Release);
            drop(block);
        });
        flag.load(Acquire);
        other.join().unwrap();
    });
    assert!(handed_over.holds() && handed_over.stats().again > 0, "{handed_over}");
    assert!(handed_over.to_string().contains("run again for freed memory"), "{handed_over}");
}

#[test]
fn an_operation_on_what_was_read_from_freed_memory_is_a_use_after_free() {
    let finding = violated(|| {
        struct Node {
            next: *mut Node,
        }
        let last = Box::into_raw(Box::new(Node { next: ptr::null_mut() }));
        let top = Arc::new(AtomicPtr::new(Box::into_raw(Box::new(Node { next: last }))));
        let theirs = top.clone();
        let pop = |top: &AtomicPtr<Node>| {
            let first = top.load(Acquire);
            if !first.is_null() {
                let next = unsafe { (*first).next };
                if top.compare_exchange(first, next, AcqRel, Relaxed).is_ok() {
                    drop(unsafe { Box::from_raw(first) });
                }
            }
        };
        let other = thread::spawn(move || pop(&theirs));
        pop(&top);
        other.join().unwrap();
    });
    assert_eq!(finding.title, "use after free");
}

#[test]
fn get_mut_races_with_a_load() {
    let program = |ordered: bool| {
        move || {
            struct Shared(*mut AtomicUsize);
            unsafe impl Send for Shared {}
            let count = Box::into_raw(Box::new(AtomicUsize::new(1)));
            let theirs = Shared(count);
            let other = thread::spawn(move || {
                let theirs = theirs;
                assert!(unsafe { &*theirs.0 }.load(Relaxed) < 3);
            });
            if ordered {
                other.join().unwrap();
                unsafe { *(*count).get_mut() = 2 };
            } else {
                unsafe { *(*count).get_mut() = 2 };
                other.join().unwrap();
            }
            drop(unsafe { Box::from_raw(count) });
        }
    };
    assert_eq!(violated(program(false)).title, "data race");
    holds(program(true));
}
