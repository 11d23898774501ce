//! On which OS thread a check runs, and that it does not matter.

use std::sync::atomic::{AtomicUsize as Plain, Ordering::*};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use unpick::sync::atomic::AtomicUsize;
use unpick::{Check, thread};

/// Two threads that count, in two executions, and what else each execution does.
fn counted(also: impl Fn() + Send + Sync + 'static) -> u64 {
    let program = move || {
        also();
        let number = std::sync::Arc::new(AtomicUsize::new(0));
        let other = std::sync::Arc::clone(&number);
        let counting = thread::spawn(move || other.fetch_add(1, AcqRel));
        number.fetch_add(1, AcqRel);
        counting.join().unwrap();
    };
    let verdict = Check::new().strategy("optimal").run(program).unwrap();
    assert!(verdict.holds(), "{verdict}");
    verdict.summary().statistics.executions
}

/// Counts executions on another OS thread than this one.
fn count_elsewhere(count: &'static Plain) -> impl Fn() + Send + Sync + 'static {
    let asks = here();
    move || {
        count.fetch_add(usize::from(here() != asks), Relaxed);
    }
}

fn here() -> ThreadId {
    std::thread::current().id()
}

#[test]
fn a_short_check_stays_on_the_thread_that_asks() {
    static ELSEWHERE: Plain = Plain::new(0);
    assert_eq!(counted(count_elsewhere(&ELSEWHERE)), 2);
    assert_eq!(ELSEWHERE.load(Relaxed), 0);
}

#[test]
fn a_check_whose_executions_are_long_moves() {
    static ELSEWHERE: Plain = Plain::new(0);
    let count = count_elsewhere(&ELSEWHERE);
    // Nothing visible happens meanwhile, so that the alarm has to take the thread out of it.
    let calculate = move || {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(500) {
            std::hint::spin_loop();
        }
        count();
    };
    assert_eq!(counted(calculate), 2);
    assert!(ELSEWHERE.load(Relaxed) >= 2, "{ELSEWHERE:?}");
}

#[test]
fn a_check_in_a_destructor_during_a_panic_runs_elsewhere() {
    static ELSEWHERE: Plain = Plain::new(0);
    struct Checks;
    impl Drop for Checks {
        fn drop(&mut self) {
            assert_eq!(counted(count_elsewhere(&ELSEWHERE)), 2);
        }
    }
    let panic = std::panic::catch_unwind(|| {
        let _checks = Checks;
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(panic.is_err() && ELSEWHERE.load(Relaxed) >= 2, "{ELSEWHERE:?}");
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
fn what_the_caller_has_in_thread_locals_is_not_touched() {
    static ELSEWHERE: Plain = Plain::new(0);
    let count = count_elsewhere(&ELSEWHERE);
    let _own = Level::new(7);
    // A thread that is given up while the level is set: by a strategy, and since it is stuck.
    let verdict = Check::new().strategy("optimal").run(move || {
        count();
        let flag = std::sync::Arc::new(AtomicUsize::new(0));
        let other = std::sync::Arc::clone(&flag);
        let waits = thread::spawn(move || {
            let _level = Level::new(9);
            unpick::assume(other.load(Relaxed) == 1);
        });
        flag.store(1, Relaxed);
        waits.join().unwrap();
    });
    assert!(verdict.unwrap().holds());
    assert_eq!(LEVEL.get(), 7);
    assert!(ELSEWHERE.load(Relaxed) > 0, "threads that share such data are kept away from it");
    let stuck = Check::new().strategy("optimal").run(|| {
        let _level = Level::new(9);
        thread::park();
    });
    assert!(stuck.unwrap().violation().is_some());
    assert_eq!(LEVEL.get(), 7);
}
