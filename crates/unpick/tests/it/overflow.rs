//! Programs that allocate more than an arena holds, which get the rest from the system heap.

use std::sync::Arc;

use unpick::cell::UnsafeCell;
use unpick::sync::Mutex;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::atomic::{AtomicPtr, AtomicUsize};
use unpick::{Check, Error, choose, thread};

use crate::support::*;

/// Fills the arena of the calling thread to the last byte.
fn fill() -> Vec<Vec<u8>> {
    let mut blocks = Vec::with_capacity(200);
    blocks.extend((0..70).map(|_| Vec::with_capacity(1 << 20)));
    for bits in (0..20).rev() {
        blocks.extend((0..2).map(|_| Vec::with_capacity(1 << bits)));
    }
    std::hint::black_box(blocks)
}

#[test]
fn objects_beyond_the_arena_are_used() {
    let (executions, _) = holds(|| {
        let _blocks = fill();
        let x = Arc::new(AtomicUsize::new(0));
        let n = Arc::new(Mutex::new(0));
        let (y, m) = (x.clone(), n.clone());
        let t = thread::spawn(move || {
            *m.lock().unwrap() += 1;
            y.fetch_add(1, Relaxed);
        });
        *n.lock().unwrap() += 1;
        t.join().unwrap();
        assert_eq!((x.load(Relaxed), *n.lock().unwrap()), (1, 2));
    });
    assert_eq!(executions, 2);
}

#[test]
fn a_block_larger_than_an_arena_holds_objects() {
    let (executions, _) = holds(|| {
        let mut big: Vec<AtomicUsize> = Vec::with_capacity(5 << 20);
        big.resize_with(3, AtomicUsize::default);
        thread::scope(|scope| {
            scope.spawn(|| big[1].fetch_add(1, Relaxed));
            big[1].fetch_add(1, Relaxed);
        });
        assert_eq!(big.pop().map(AtomicUsize::into_inner), Some(0));
        assert_eq!(big.pop().map(AtomicUsize::into_inner), Some(2));
    });
    assert_eq!(executions, 2);
}

#[test]
fn a_race_beyond_the_arena_is_found() {
    struct Shared(UnsafeCell<usize>);
    unsafe impl Sync for Shared {}
    unsafe impl Send for Shared {}
    let finding = violated(|| {
        choose(3);
        let _blocks = fill();
        let cell = Arc::new(Shared(UnsafeCell::new(0)));
        let theirs = cell.clone();
        let t = thread::spawn(move || theirs.0.with_mut(|n| unsafe { *n += 1 }));
        cell.0.with_mut(|n| unsafe { *n += 1 });
        t.join().unwrap();
    });
    assert_eq!(finding.title, "data race");
}

/// The system heap gives other addresses in each execution, which is no fault of the program.
#[test]
fn pointers_beyond_the_arena_may_change() {
    let kept: std::sync::Mutex<Vec<Vec<u8>>> = std::sync::Mutex::new(Vec::new());
    let (executions, _) = holds(move || {
        let _blocks = fill();
        let slot = Arc::new(AtomicPtr::new(std::ptr::null_mut()));
        // What lies before on the heap differs from run to run.
        unpick::outside(|| kept.lock().unwrap().push(vec![0; 100]));
        let first = Box::into_raw(Box::new(AtomicUsize::new(7)));
        slot.store(first, Release);
        let theirs = slot.clone();
        let t = thread::spawn(move || {
            let second = Box::into_raw(Box::new(AtomicUsize::new(8)));
            let old = theirs.swap(second, AcqRel);
            unsafe { drop(Box::from_raw(old)) };
        });
        let seen = slot.load(Acquire);
        assert!(!seen.is_null());
        t.join().unwrap();
        unsafe { drop(Box::from_raw(slot.load(Relaxed))) };
    });
    assert_eq!(executions, 2);
}

#[test]
fn threads_that_are_given_up_leak_what_they_hold_beyond_the_arena() {
    let (executions, blocked) = holds(|| {
        let _blocks = fill();
        let x = Arc::new((AtomicUsize::new(0), Mutex::new(vec![1u8; 100])));
        let y = x.clone();
        let t = thread::spawn(move || {
            let _text = y.1.lock().unwrap();
            y.0.store(1, Release);
        });
        unpick::assume(x.0.load(Acquire) == 1);
        x.1.lock().unwrap().push(2);
        t.join().unwrap();
    });
    assert_eq!((executions, blocked), (1, 1));
}

/// A loop that waits on an object beyond the arena is recognised.
#[test]
fn a_thread_waits_for_what_lies_beyond_the_arena() {
    let verdict = run(|| {
        let _blocks = fill();
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.store(1, Release));
        while x.load(Acquire) == 0 {}
        t.join().unwrap();
    });
    counts(&verdict);
}

#[test]
fn an_object_from_outside_is_refused_before_an_overflow_and_after() {
    for early in [false, true] {
        let x = Arc::new(AtomicUsize::new(0));
        let error = Check::new().run(move || {
            let _blocks = if early { fill() } else { Vec::new() };
            x.fetch_add(1, Relaxed);
            let _blocks = fill();
        });
        assert!(matches!(error, Err(Error::Outside { .. })), "{error:?}");
    }
}

#[test]
fn absurd_sizes_are_refused_as_elsewhere() {
    holds(|| {
        let mut bytes: Vec<u8> = Vec::new();
        assert!(bytes.try_reserve(isize::MAX as usize).is_err());
        assert!(bytes.try_reserve(usize::MAX).is_err());
        assert!(bytes.try_reserve_exact(isize::MAX as usize - 64).is_err());
        bytes.push(1);
        assert!(bytes.try_reserve_exact(isize::MAX as usize - 64).is_err());
        assert_eq!(bytes, [1]);
    });
}

/// Where address space is short, later threads have no arena at all.
#[test]
fn threads_without_an_arena() {
    if is_child() {
        let (executions, _) = holds(|| {
            let total = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..40)
                .map(|n| {
                    let total = total.clone();
                    thread::spawn(move || {
                        let own = Box::new(AtomicUsize::new(n));
                        own.fetch_add(1, Relaxed);
                        if n >= 38 {
                            total.fetch_add(own.load(Relaxed), Relaxed);
                        }
                    })
                })
                .collect();
            threads.into_iter().for_each(|t| t.join().unwrap());
            assert_eq!(total.load(Relaxed), 39 + 40);
        });
        assert_eq!(executions, 2);
        return;
    }
    let name = test_name!(threads_without_an_arena);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -v 3000000 && exec \"$0\" \"$@\""]);
    command.arg(std::env::current_exe().unwrap()).args([&name, "--exact", "--nocapture"]);
    let output = command.env("CHECKED_IT_CHILD", "1").output().unwrap();
    assert!(output.status.success(), "{}", text_of(&output));
}
