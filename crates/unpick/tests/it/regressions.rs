//! Programs that were once told wrongly.

use std::panic::catch_unwind;
use std::sync::Arc;
use std::time::Duration;

use unpick::cell::UnsafeCell;
use unpick::sync::Mutex;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use unpick::{Check, Error, Verdict, choose, hint, thread};

use crate::errors::recurse;
use crate::locks::proved;
use crate::panics::OnDrop;
use crate::support::*;

// ------------------------------------------------------------ memory that outlives an execution

/// The harness captures output in a vector; it first grows in an execution, not in the warm-up.
#[test]
fn a_program_prints_in_some_executions_only() {
    if !is_child() {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args([&test_name!(a_program_prints_in_some_executions_only), "--exact", "--show-output"]);
        let output = command.env("CHECKED_IT_CHILD", "1").output().unwrap();
        let text = text_of(&output);
        assert!(output.status.success(), "{text}");
        for n in 5..10 {
            assert!(text.contains(&format!("choice {n} {}", "word ".repeat(20))), "{text}");
        }
        return;
    }
    holds(|| {
        let n = choose(10);
        if n > 4 {
            println!("choice {n} {}", "word ".repeat(20));
        }
        let noise = vec![0xffu8; 5000];
        std::hint::black_box(&noise);
    });
    println!("after");
}

// ------------------------------------------------------------ panics

#[test]
fn a_caught_panic_is_no_violation() {
    holds(|| {
        let caught = catch_unwind(|| panic!("caught"));
        assert!(caught.is_err());
    });
}

#[test]
fn of_several_panics_the_unhandled_one_is_told() {
    let finding = violated(|| {
        assert!(thread::spawn(|| panic!("handled")).join().is_err());
        thread::spawn(|| panic!("not handled"));
    });
    assert!(told(&finding).contains("not handled"), "{}", told(&finding));
}

#[test]
fn the_panic_of_main_is_told_after_a_handled_one() {
    let finding = violated(|| {
        assert!(thread::spawn(|| panic!("handled")).join().is_err());
        panic!("the last");
    });
    assert!(told(&finding).contains("the last"), "{}", told(&finding));
}

/// A panic of a scoped thread goes on in the thread that has the scope, whose handle is looked at.
#[test]
fn a_panic_that_went_through_a_scope_is_handled() {
    passes(|| {
        let outer = thread::spawn(|| {
            thread::scope(|scope| {
                scope.spawn(|| panic!("inner"));
            });
        });
        assert!(outer.join().is_err());
    });
}

/// Main has caught a panic of its own, and takes a lock while another thread stands in a destructor
/// and unwinds: what main's mutex and `std::thread::panicking` say then.
pub(crate) fn beside_an_unwinding_thread() -> (bool, bool) {
    let poisoned = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let panicking = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let theirs = (poisoned.clone(), panicking.clone());
    let _ = Check::new().run(move || {
        let flags = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let other = flags.clone();
        let slow = thread::spawn(move || {
            let _guard = OnDrop(|| {
                other[0].store(1, Release);
                unpick::await_until(|| other[1].load(Acquire) == 1);
            });
            panic!("slowly");
        });
        let _ = catch_unwind(|| panic!("caught"));
        unpick::await_until(|| flags[0].load(Acquire) == 1);
        let mutex = Mutex::new(0);
        drop(mutex.lock());
        theirs.0.fetch_or(mutex.is_poisoned(), Relaxed);
        theirs.1.fetch_or(std::thread::panicking(), Relaxed);
        flags[1].store(1, Release);
        assert!(slow.join().is_err());
    });
    (poisoned.load(Relaxed), panicking.load(Relaxed))
}

#[test]
fn a_lock_is_not_poisoned_by_a_panic_of_another_thread() {
    assert!(!beside_an_unwinding_thread().0);
}

/// The execution in which T2 reads the old value is given up; the panic is handled in the other.
#[test]
fn a_panic_that_will_be_handled_is_none_in_an_execution_that_is_given_up() {
    holds(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let fails = thread::spawn(|| panic!("handled"));
        let waits = thread::spawn(move || while theirs.load(Acquire) == 0 {});
        flag.store(1, Release);
        waits.join().unwrap();
        assert!(fails.join().is_err());
    });
}

/// After an execution that leaves a fiber in the middle of a panic, the rest of the check runs on
/// a new OS thread with other arenas: recorded pointers must not be those of the old ones.
#[test]
fn pointers_survive_a_change_of_the_os_thread() {
    let (seen, verdict) = outcomes_in(&Check::new().leaks(false), || {
        let slot = Arc::new(AtomicPtr::new(std::ptr::null_mut::<AtomicUsize>()));
        let (slot2, slot3) = (slot.clone(), slot.clone());
        let other = thread::spawn(move || slot3.store(Box::into_raw(Box::new(AtomicUsize::new(3))), Release));
        let t = thread::spawn(move || {
            let _guard = OnDrop(|| while slot2.load(Acquire).is_null() {});
            panic!("handled");
        });
        slot.store(Box::into_raw(Box::new(AtomicUsize::new(7))), Release);
        let seen = slot.load(Acquire);
        // SAFETY: published with release.
        let seen = unsafe { (*seen).load(Relaxed) };
        assert!(t.join().is_err());
        other.join().unwrap();
        seen as u64
    });
    assert_eq!(seen, [3, 7].into_iter().collect(), "{verdict}");
}

// ------------------------------------------------------------ loops

#[test]
fn a_loop_that_counts_in_a_static_gives_up() {
    struct Count(UnsafeCell<usize>);
    // SAFETY: used by one thread.
    unsafe impl Sync for Count {}
    static TRIED: Count = Count(UnsafeCell::new(0));
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        choose(2);
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let t = thread::spawn(move || theirs.store(true, Release));
        let mut got = true;
        while !flag.load(Acquire) {
            let tried = TRIED.0.with_mut(|n| unsafe {
                *n += 1;
                *n
            });
            if tried == 5 {
                got = false;
                break;
            }
        }
        t.join().unwrap();
        u64::from(got)
    });
    assert_eq!(seen, [0, 1].into_iter().collect(), "{verdict}");
}

/// A weak exchange that fails without a reason fails once, not for ever.
#[test]
fn spurious_failures_are_no_livelock() {
    let verdict = Check::new().spurious_failures(true).run(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let x = x.clone();
                thread::spawn(move || {
                    while x.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
                        hint::spin_loop();
                    }
                    x.store(0, Release);
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
    });
    counts(&verdict.unwrap());
}

#[test]
fn spurious_failures_in_an_update_loop() {
    let verdict = Check::new().spurious_failures(true).run(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.fetch_update(AcqRel, Acquire, |n| Some(n + 1)));
        let _ = x.fetch_update(AcqRel, Acquire, |n| Some(n + 1));
        let _ = t.join().unwrap();
        assert_eq!(x.load(Relaxed), 2);
    });
    counts(&verdict.unwrap());
}

#[test]
fn spurious_failures_before_another_load() {
    let verdict = Check::new().spurious_failures(true).run(|| {
        let x = Arc::new(AtomicUsize::new(1));
        let other = Arc::new(AtomicUsize::new(0));
        let (y, o) = (x.clone(), other.clone());
        let t = thread::spawn(move || {
            while y.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() || o.load(Relaxed) == 5 {
                o.load(Relaxed);
            }
        });
        x.store(0, Release);
        t.join().unwrap();
    });
    counts(&verdict.unwrap());
}

// ------------------------------------------------------------ threads

/// Whether a thread has ended can be seen either way.
#[test]
fn is_finished_is_explored() {
    let (seen, verdict) = outcomes_in(&Check::new(), || {
        let t = thread::spawn(|| ());
        let finished = t.is_finished();
        t.join().unwrap();
        u64::from(finished)
    });
    assert_eq!(seen, [0, 1].into_iter().collect(), "{verdict}");
}

#[test]
fn what_depends_on_is_finished_is_deterministic() {
    let verdict = Check::new().run(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.fetch_add(1, Relaxed));
        x.load(Relaxed);
        x.fetch_add(1, Relaxed);
        if t.is_finished() {
            x.fetch_add(1, Relaxed);
        }
        x.load(Relaxed);
        t.join().unwrap();
    });
    assert!(verdict.as_ref().is_ok_and(Verdict::holds), "{verdict:?}");
}

#[test]
fn a_loop_until_a_thread_is_finished_waits() {
    let verdict = Check::new().hang_limit(Duration::from_secs(2)).run(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.store(1, Relaxed));
        while !t.is_finished() {
            thread::yield_now();
        }
        t.join().unwrap();
        assert_eq!(x.load(Relaxed), 1);
    });
    assert!(verdict.as_ref().is_ok_and(Verdict::holds), "{verdict:?}");
}

// ------------------------------------------------------------ statics and captured objects

#[test]
fn checks_at_the_same_time_share_no_static() {
    static SHARED: AtomicUsize = AtomicUsize::new(0);
    static LIST: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let workers: Vec<_> = (0..4usize)
        .map(|_| {
            std::thread::spawn(|| {
                for _ in 0..20 {
                    let (executions, _) = holds(|| {
                        let threads: Vec<_> = (0..3)
                            .map(|n| {
                                thread::spawn(move || {
                                    LIST.lock().unwrap().push(n);
                                    SHARED.fetch_add(1, Relaxed)
                                })
                            })
                            .collect();
                        threads.into_iter().for_each(|t| assert!(t.join().is_ok()));
                        assert_eq!(LIST.lock().unwrap().len(), 3);
                        assert_eq!(SHARED.load(Relaxed), 3);
                    });
                    assert_eq!(executions, 36);
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|w| w.join().unwrap());
}

// ------------------------------------------------------------ stacks

#[test]
fn a_small_stack_is_enough_for_a_report() {
    if !is_child() {
        let output = child(&test_name!(a_small_stack_is_enough_for_a_report), &[]);
        assert!(output.status.success(), "{:?} {}", output.status, text_of(&output));
        return;
    }
    for size in [64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10, 1, 0] {
        let verdict = Check::new().stack_size(size).run(|| {
            let x = Arc::new(AtomicUsize::new(0));
            let y = x.clone();
            let t = thread::spawn(move || assert_eq!(y.load(Relaxed), 0, "formatted {}", 1));
            x.store(1, Relaxed);
            t.join().unwrap();
        });
        match verdict {
            Ok(verdict) => assert!(verdict.violation().is_some(), "{size}: {verdict}"),
            Err(error) => assert!(matches!(error, Error::Setting { .. }), "{size}: {error}"),
        }
        eprintln!("{size} is fine");
    }
}

// ------------------------------------------------------------ moved here from the other modules

#[inline(never)]
fn is_set(flag: &AtomicBool) -> bool {
    flag.load(Acquire)
}

#[inline(never)]
fn wait_for(flag: &AtomicBool) {
    while !is_set(flag) {
        hint::spin_loop();
    }
}

#[test]
fn a_stack_overflow_ends_the_process_with_a_message() {
    if is_child() {
        unpick::check(|| {
            let t = thread::spawn(|| recurse(1_000_000));
            t.join().unwrap();
        });
        return;
    }
    let output = child(&test_name!(a_stack_overflow_ends_the_process_with_a_message), &[]);
    let text = text_of(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("stack overflow in thread T1") && text.contains("UNPICK_STACK_SIZE"), "{text}");
}

/// The message of a stack overflow in a child process, and the token in it.
fn overflow(name: &str, variables: &[(&str, &str)]) -> (String, String) {
    let output = child(name, variables);
    let text = text_of(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    let (_, token) = text.split_once("replay: UNPICK_REPLAY=").unwrap_or_else(|| panic!("no token: {text}"));
    let token = token.trim().to_string();
    (text, token)
}

/// Whether it overflows in the first execution, which is thrown away, or in a later one, and on
/// which side: the token leads there.
#[test]
fn a_stack_overflow_can_be_replayed() {
    let case: usize = std::env::var("CHECKED_IT_CASE").map_or(0, |case| case.parse().unwrap());
    if is_child() {
        Check::new().stack_size(100_000).check(move || {
            let x = Arc::new(AtomicUsize::new(0));
            let y = x.clone();
            let t = thread::spawn(move || {
                y.store(1, Relaxed);
                let seen = y.fetch_add(2, Relaxed);
                if case / 2 == 0 && seen == 1 + case % 2 * 4 {
                    recurse(1_000_000);
                }
            });
            x.fetch_add(4, Relaxed);
            if case / 2 == 1 && x.load(Relaxed) == 3 + case % 2 * 4 {
                recurse(1_000_000);
            }
            t.join().unwrap();
        });
        return;
    }
    let name = test_name!(a_stack_overflow_can_be_replayed);
    for (case, thread) in [(0, "thread T1"), (1, "thread T1"), (2, "the main thread"), (3, "the main thread")]
    {
        let case = ("CHECKED_IT_CASE", &*case.to_string());
        let (text, token) = overflow(&name, &[case]);
        for part in
            [thread, "100000 bytes", "its last operation was at crates/unpick/tests/it/regressions.rs:"]
        {
            assert!(text.contains(part), "no {part} in {text}");
        }
        let (again, same) = overflow(&name, &[case, ("UNPICK_REPLAY", &token)]);
        assert!(again.contains(thread) && same == token, "{again}");
        // Nothing else is run.
        let executions = child(&name, &[("CHECKED_IT_CASE", "9"), ("UNPICK_REPLAY", &token)]);
        assert_eq!(executions.status.code(), Some(101), "{}", text_of(&executions));
    }
}

/// It is the engine that runs out of stack, whose data may be in disorder: there is no token.
#[test]
fn a_stack_overflow_in_an_operation() {
    #[inline(never)]
    fn count(x: &AtomicUsize, depth: usize) -> usize {
        let seen = x.fetch_add(1, Relaxed);
        if depth == 0 { 0 } else { count(x, depth - 1) + std::hint::black_box(seen) }
    }
    if is_child() {
        Check::new().stack_size(64 << 10).check(|| {
            let x = Arc::new(AtomicUsize::new(0));
            let y = x.clone();
            thread::spawn(move || count(&y, 100_000)).join().unwrap();
        });
        return;
    }
    let output = child(&test_name!(a_stack_overflow_in_an_operation), &[]);
    let text = text_of(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    for part in ["thread T1", "65536 bytes", "operation was at crates/unpick/tests/it/regressions.rs:"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn a_stack_overflow_before_the_first_operation() {
    if is_child() {
        Check::new().check(|| assert!(recurse(1_000_000) > 0));
        return;
    }
    let name = test_name!(a_stack_overflow_before_the_first_operation);
    let (_, token) = overflow(&name, &[]);
    let (_, same) = overflow(&name, &[("UNPICK_REPLAY", &token)]);
    assert_eq!(token, same);
}

#[test]
fn a_loop_in_a_called_function_waits() {
    let verdict = run(|| {
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let theirs = flags.clone();
        let t = thread::spawn(move || {
            wait_for(&theirs[0]);
            theirs[1].store(true, Release);
        });
        flags[0].store(true, Release);
        wait_for(&flags[1]);
        t.join().unwrap();
    });
    proved("calls", &verdict);
    // One, if every wait is seen through at once; the compiler may peel a round off the loop.
    assert!(verdict.stats().executions < 10, "{verdict}");
}

#[test]
fn later_executions_follow_a_panic_that_was_handled() {
    let finding = violated(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || assert_eq!(y.load(Relaxed), 0, "handled"));
        x.store(1, Relaxed);
        let handled = t.join().is_err();
        let z = x.clone();
        let u = thread::spawn(move || z.store(2, Relaxed));
        assert!(x.load(Relaxed) == 1 || !handled, "the last");
        u.join().unwrap();
    });
    let report = told(&finding);
    assert!(report.contains("the last"), "{report}");
}

/// Rust ends a process whose destructor panics during a panic; it is told before.
#[test]
fn in_a_destructor_while_unwinding() {
    if is_child() {
        let verdict = Check::new().run(|| {
            let _guard = OnDrop(|| panic!("second"));
            panic!("first");
        });
        panic!("still there: {verdict:?}");
    }
    let output = child(&test_name!(in_a_destructor_while_unwinding), &[]);
    let text = text_of(&output);
    assert_eq!(output.status.code(), Some(101), "{text}");
    for part in ["a destructor panicked while another panic unwound", "first", "second", "UNPICK_REPLAY=u1"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(!text.contains("still there"), "{text}");
}
