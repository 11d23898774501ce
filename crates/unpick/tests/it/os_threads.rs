//! The OS thread that a check runs on: one of its own, which nobody interrupts.

use std::sync::atomic::{AtomicUsize as Plain, Ordering::*};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use unpick::sync::atomic::AtomicUsize;
use unpick::{Check, Error, thread};

/// Two threads that count, in two executions, and what else each execution does.
fn counted(also: impl Fn() + Send + Sync + 'static) -> u64 {
    let program = move || {
        also();
        let number = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&number);
        let counting = thread::spawn(move || other.fetch_add(1, AcqRel));
        number.fetch_add(1, AcqRel);
        counting.join().unwrap();
    };
    let verdict = Check::new().strategy("optimal").run(program).unwrap();
    assert!(verdict.holds(), "{verdict}");
    verdict.summary().statistics.executions
}

fn here() -> ThreadId {
    std::thread::current().id()
}

#[test]
fn a_check_has_a_thread_of_its_own_with_the_name_of_its_caller() {
    let (asks, name) = (here(), std::thread::current().name().map(String::from));
    let executions = counted(move || {
        assert_ne!(here(), asks);
        assert_eq!(std::thread::current().name(), name.as_deref());
    });
    assert_eq!(executions, 2);
}

/// Computes for longer than any alarm would wait for, and nothing visible happens meanwhile.
fn compute() {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(400) {
        std::hint::spin_loop();
    }
}

#[test]
fn a_thread_may_compute_for_long_with_a_lock_of_std() {
    static LOCK: Mutex<usize> = Mutex::new(0);
    let executions = counted(|| {
        let mut computed = LOCK.lock().unwrap();
        compute();
        *computed += 1;
    });
    assert_eq!(executions, 2);
    assert!(*LOCK.lock().unwrap() >= 2);
}

#[test]
fn a_thread_may_print_for_long() {
    let executions = counted(|| {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(400) {
            print!(".");
        }
    });
    assert_eq!(executions, 2);
}

#[test]
fn a_thread_that_hangs_gives_its_lock_back_later() {
    static LOCK: Mutex<usize> = Mutex::new(0);
    let check = Check::new().hang_limit(Duration::from_millis(600));
    let error = check.run(|| {
        let mut computed = LOCK.lock().unwrap();
        (0..4).for_each(|_| compute());
        *computed += 1;
    });
    assert!(matches!(error, Err(Error::Hang { .. })), "{error:?}");
    // The worker was abandoned, not interrupted: so others get the lock in the end.
    assert_eq!(*LOCK.lock().unwrap(), 1);
}

#[test]
fn a_check_in_a_destructor_during_a_panic() {
    static CHECKED: Plain = Plain::new(0);
    struct Checks;
    impl Drop for Checks {
        fn drop(&mut self) {
            CHECKED.store(counted(|| ()) as usize, Relaxed);
        }
    }
    let panic = std::panic::catch_unwind(|| {
        let _checks = Checks;
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(panic.is_err());
    assert_eq!(CHECKED.load(Relaxed), 2);
}

std::thread_local! {
    /// What std's own thread-locals are used for in tests: something that is set for a while.
    static LEVEL: std::cell::Cell<u32> = const { std::cell::Cell::new(1) };
}

/// Sets the level until it is dropped.
struct Level(u32);

impl Level {
    fn new(level: u32) -> Level {
        Level(LEVEL.replace(level))
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        LEVEL.set(self.0);
    }
}

#[test]
fn the_thread_locals_of_the_caller_are_its_own() {
    let _own = Level::new(7);
    assert_eq!(counted(|| assert_eq!(LEVEL.get(), 1)), 2);
    // A thread that is given up while the level is set: by a strategy, and since it is stuck.
    let verdict = Check::new().strategy("optimal").run(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&flag);
        let waits = thread::spawn(move || {
            let _level = Level::new(9);
            unpick::assume(other.load(Relaxed) == 1);
        });
        flag.store(1, Relaxed);
        waits.join().unwrap();
    });
    assert!(verdict.unwrap().holds());
    let stuck = Check::new().strategy("optimal").run(|| {
        let _level = Level::new(9);
        thread::park();
    });
    assert!(stuck.unwrap().violation().is_some());
    assert_eq!(LEVEL.get(), 7);
}

/// Who runs a check, and what it leaves behind.
fn who(leaves: bool) -> ThreadId {
    static WHO: Mutex<Option<ThreadId>> = Mutex::new(None);
    counted(move || {
        *WHO.lock().unwrap() = Some(here());
        if leaves {
            LEVEL.set(9);
        }
    });
    WHO.lock().unwrap().take().unwrap()
}

#[test]
fn checks_of_a_caller_share_a_thread_that_is_as_it_was_born() {
    let first = who(false);
    assert_eq!(who(false), first);
    assert_eq!(who(true), first, "what is left behind shows at the end");
    let second = who(false);
    assert_ne!(second, first);
    let others = std::thread::spawn(|| who(false)).join().unwrap();
    assert_ne!(others, second, "output that is captured is the caller's");
}

#[test]
fn each_check_finds_thread_locals_as_they_are_born() {
    for _ in 0..2 {
        let stuck = Check::new().strategy("optimal").run(|| {
            let _level = Level::new(9);
            thread::park();
        });
        assert!(stuck.unwrap().violation().is_some());
        assert_eq!(counted(|| assert_eq!(LEVEL.get(), 1)), 2);
    }
}

#[test]
fn a_caller_may_have_locked_standard_error() {
    let _locked = std::io::stderr().lock();
    assert_eq!(counted(|| ()), 2);
}

#[test]
fn a_check_does_not_find_the_token_that_another_one_has_left() {
    assert_eq!(counted(|| std::thread::current().unpark()), 2);
    let begun = Instant::now();
    let parked = counted(|| std::thread::park_timeout(Duration::from_millis(20)));
    assert_eq!(parked, 2);
    assert!(begun.elapsed() >= Duration::from_millis(20), "nobody has unparked it");
}

#[test]
fn an_os_thread_on_which_a_thread_was_given_up_is_not_used_again() {
    let given_up = Arc::new(Mutex::new(None));
    let theirs = Arc::clone(&given_up);
    let stuck = Check::new().run(move || {
        *theirs.lock().unwrap() = Some(here());
        thread::park();
    });
    assert!(stuck.unwrap().violation().is_some());
    assert_ne!(Some(who(false)), *given_up.lock().unwrap());
}
