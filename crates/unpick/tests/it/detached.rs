//! Threads that nobody joins, and the end of the process.

use std::sync::Arc;

use unpick::sync::Mutex;
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::{Check, Detached, process, thread};

use crate::support::*;

/// A server that waits for work for ever.
fn server() {
    let jobs = Arc::new(AtomicUsize::new(0));
    let theirs = jobs.clone();
    thread::spawn(move || {
        loop {
            while theirs.load(Acquire) == 0 {}
            theirs.fetch_sub(1, AcqRel);
        }
    });
    jobs.fetch_add(1, AcqRel);
}

#[test]
fn a_thread_that_never_ends_is_a_violation_unless_it_is_abandoned() {
    assert_eq!(violated(server).title, "livelock");
    let verdict = Check::new().detached(Detached::Abandoned).run(server).unwrap();
    assert_eq!(counts(&verdict).0, 1);
}

#[test]
fn a_thread_that_is_joined_must_end() {
    let check = Check::new().detached(Detached::Abandoned);
    let verdict = check.run(|| {
        let mutex = Arc::new(Mutex::new(()));
        let guard = mutex.lock().unwrap();
        let theirs = mutex.clone();
        let t = thread::spawn(move || drop(theirs.lock()));
        t.join().unwrap();
        drop(guard);
    });
    assert_eq!(verdict.unwrap().violation().unwrap().title, "deadlock");
}

#[test]
fn what_abandoned_threads_break_is_a_violation() {
    let check = Check::new().detached(Detached::Abandoned);
    let verdict = check.run(|| {
        thread::spawn(|| {
            let other = thread::spawn(|| unpick::await_until(|| false));
            assert!(AtomicUsize::new(0).load(Relaxed) == 1, "broken");
            other.join().unwrap();
        });
    });
    assert_eq!(verdict.unwrap().violation().unwrap().title, "panic");
}

#[test]
fn an_exit_abandons_what_waits() {
    let counts = holds(|| {
        let mutex = Arc::new(Mutex::new(()));
        let theirs = mutex.clone();
        let guard = mutex.lock().unwrap();
        thread::spawn(move || drop(theirs.lock()));
        std::mem::forget(guard);
        process::exit(0);
    });
    assert_eq!(counts, (1, 0));
}

/// What others do before the exit is explored, in all its ways.
#[test]
fn an_exit_hides_nothing() {
    let counts = holds(|| {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (x2, y2) = (x.clone(), y.clone());
        thread::spawn(move || {
            y2.load(Relaxed);
            x2.store(1, Relaxed);
        });
        y.store(1, Relaxed);
        if x.load(Relaxed) == 0 {
            process::exit(0);
        }
        process::exit(0);
    });
    // As without an exit: either load sees either value.
    assert_eq!(counts, (4, 0));
    let finding = violated(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        thread::spawn(move || assert_eq!(y.load(Relaxed), 0, "seen"));
        x.store(1, Relaxed);
        process::exit(0);
    });
    assert_eq!(finding.title, "panic");
}

#[test]
fn a_failing_exit_is_a_violation() {
    let finding = violated(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        thread::spawn(move || {
            if y.load(Relaxed) == 1 {
                process::exit(3);
            }
        });
        x.store(1, Relaxed);
    });
    assert_eq!(finding.title, "failing exit");
    assert!(finding.place.as_ref().is_some_and(|place| place.file.ends_with("detached.rs")));
    assert!(told(&finding).contains("T1 ended the process with code 3"), "{}", told(&finding));
    let finding = violated(|| process::abort());
    assert_eq!(finding.title, "abort");
    assert_eq!(finding.message, ["main aborted"]);
}

#[test]
fn outside_a_check_an_exit_ends_the_process() {
    if is_child() {
        process::exit(9);
    }
    let output = child(&test_name!(outside_a_check_an_exit_ends_the_process), &[]);
    assert_eq!(output.status.code(), Some(9));
}

/// Whoever exits, the others are explored in all their ways: as many executions as if the threads just
/// ended there.
#[test]
fn an_exit_has_as_many_executions_as_an_end() {
    fn program(ends: fn()) -> impl Fn() + Send + Sync + 'static {
        move || {
            let shared = Arc::new((Mutex::new(0), AtomicUsize::new(0), AtomicUsize::new(0)));
            for n in 0..2 {
                let theirs = shared.clone();
                thread::spawn(move || {
                    *theirs.0.lock().unwrap() += 1;
                    if theirs.1.fetch_add(1, AcqRel) == n {
                        return ends();
                    }
                    theirs.2.store(n + 1, Release);
                });
            }
            shared.1.store(5, Relaxed);
            if shared.2.load(Acquire) == 1 {
                return ends();
            }
            *shared.0.lock().unwrap() += 1;
        }
    }
    let with_ends = holds(program(|| {}));
    let with_exits = holds(program(|| process::exit(0)));
    assert_eq!(with_exits, with_ends);
    assert!(with_ends.0 > 20, "{with_ends:?}");
}
