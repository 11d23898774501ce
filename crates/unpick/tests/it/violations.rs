//! Each kind of violation: its report, its replay in another process, and the mended program.

use std::sync::Arc;

use unpick::Check;
use unpick::cell::UnsafeCell;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use unpick::sync::{Mutex, RawMutex};
use unpick::thread;
use unpick::trace::{Action, Finding, Place};

use crate::support::*;

/// Checks that `broken` is found, told as the golden file says, and replayed from its token in a
/// fresh process; and that `mended` holds.
macro_rules! violations {
    ($($(#[$doc:meta])* $name:ident: $title:literal, $broken:expr, $mended:expr;)*) => {
        $(
            $(#[$doc])*
            #[test]
            fn $name() {
                if is_child() {
                    Check::new().check($broken);
                    return;
                }
                let finding = violated($broken);
                assert_eq!(finding.title, $title, "{}", told(&finding));
                is_snapshot(file!(), stringify!($name), &told(&$crate::violations::plain(&finding)));
                let name = test_name!($name);
                let output = child(&name, &[("UNPICK_REPLAY", &finding.token)]);
                let text = text_of(&output);
                assert_eq!(output.status.code(), Some(101), "{text}");
                let start = text.find("error: ").unwrap_or_else(|| panic!("no report in\n{text}"));
                use $crate::violations::body;
                assert_eq!(body(&text[start..]), body(&told(&finding)), "replayed by another process");
                passes($mended);
            }
        )*
    };
}

pub(crate) use violations;

/// A finding without what changes from one edit of this file to the next: numbers of lines, call
/// stacks, the token, and addresses.
pub(crate) fn plain(finding: &Finding) -> Finding {
    let mut finding = finding.clone();
    let unplaced = |place: &mut Option<Place>| {
        if let Some(place) = place {
            (place.line, place.column) = (1, 1);
        }
    };
    finding.place = None;
    finding.token = String::from("TOKEN");
    finding.message.iter_mut().for_each(|line| *line = without_numbers(line));
    finding.trace.stacks.clear();
    finding.trace.threads.iter_mut().for_each(|thread| unplaced(&mut thread.spawned));
    for step in &mut finding.trace.steps {
        unplaced(&mut step.place);
        match &mut step.action {
            Action::Waits { reason: text } | Action::Panic { message: text } => *text = without_numbers(text),
            Action::Write { object, value, .. } if finding.trace.objects[*object].kind == "AtomicPtr" => {
                *value = 0x1000;
            }
            Action::Update { object, value, seen, .. }
                if finding.trace.objects[*object].kind == "AtomicPtr" =>
            {
                (*value, seen.value) = (0x1000, 0x1000);
            }
            Action::Read { object, seen, .. } if finding.trace.objects[*object].kind == "AtomicPtr" => {
                seen.value = 0x1000;
            }
            _ => {}
        }
    }
    finding
}

/// `violations.rs:12:34` becomes `violations.rs:1`.
fn without_numbers(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(".rs:") {
        out.push_str(&rest[..at + 4]);
        out.push('1');
        rest = rest[at + 4..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
    }
    out.push_str(rest);
    out
}

/// A report up to the line that numbers the execution, without addresses.
pub(crate) fn body(report: &str) -> String {
    let lines = report.lines().take_while(|line| !line.starts_with("model:"));
    let mut out: String = lines.map(|line| format!("{}\n", line.trim_end())).collect();
    while let Some(at) = out.find("0x") {
        let digits = out[at + 2..].chars().take_while(char::is_ascii_hexdigit).count();
        out.replace_range(at..at + 2 + digits, "ADDRESS");
    }
    out
}

/// A cell that threads may share.
struct Shared<T>(UnsafeCell<T>);

// SAFETY: what the tests are about.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

/// Two threads that take two locks, in the same order or not.
fn two_locks(crossed: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let theirs = locks.clone();
        let t = thread::spawn(move || {
            let (a, b) = &*theirs;
            let (first, second) = if crossed { (b, a) } else { (a, b) };
            let _first = first.lock().unwrap();
            let _second = second.lock().unwrap();
        });
        let (a, b) = &*locks;
        let guard = a.lock().unwrap();
        *b.lock().unwrap() += 1;
        drop(guard);
        t.join().unwrap();
    }
}

fn publish(order: unpick::sync::atomic::Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let slot = Arc::new(AtomicPtr::new(std::ptr::null_mut::<AtomicUsize>()));
        let theirs = slot.clone();
        let t = thread::spawn(move || theirs.store(Box::into_raw(Box::new(AtomicUsize::new(5))), order));
        let seen = slot.load(Acquire);
        if !seen.is_null() {
            // SAFETY: what the test is about.
            assert_eq!(unsafe { (*seen).load(Relaxed) }, 5);
        }
        t.join().unwrap();
        // SAFETY: the thread has put it there.
        drop(unsafe { Box::from_raw(slot.load(Relaxed)) });
    }
}

fn publish_cell(order: unpick::sync::atomic::Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let slot = Arc::new(AtomicPtr::new(std::ptr::null_mut::<Shared<usize>>()));
        let theirs = slot.clone();
        let t =
            thread::spawn(move || theirs.store(Box::into_raw(Box::new(Shared(UnsafeCell::new(5)))), order));
        let seen = slot.load(Acquire);
        if !seen.is_null() {
            // SAFETY: what the test is about.
            assert_eq!(unsafe { (*seen).0.with(|value| *value) }, 5);
        }
        t.join().unwrap();
        // SAFETY: the thread has put it there.
        drop(unsafe { Box::from_raw(slot.load(Relaxed)) });
    }
}

fn race(locked: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new((Mutex::new(()), Shared(UnsafeCell::new(0))));
        let theirs = shared.clone();
        let t = thread::spawn(move || {
            let _guard = locked.then(|| theirs.0.lock().unwrap());
            add_one(&theirs.1);
        });
        let (mutex, counter) = &*shared;
        let guard = mutex.lock().unwrap();
        read(counter);
        drop(guard);
        t.join().unwrap();
    }
}

#[inline(never)]
fn add_one(counter: &Shared<i32>) {
    counter.0.with_mut(|value| unsafe { *value += 1 });
    // Not a call in tail position, which would leave no frame.
    std::hint::black_box(counter);
}

#[inline(never)]
fn read(counter: &Shared<i32>) -> i32 {
    std::hint::black_box(counter.0.with(|value| unsafe { *value }))
}

fn message(store: unpick::sync::atomic::Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let data = Arc::new(AtomicUsize::new(0));
        let flag = Arc::new(AtomicBool::new(false));
        let (data2, flag2) = (data.clone(), flag.clone());
        let t = thread::spawn(move || {
            data2.store(1, Relaxed);
            flag2.store(true, store);
        });
        if flag.load(Acquire) {
            assert_eq!(data.load(Relaxed), 1, "the message has arrived");
        }
        t.join().unwrap();
    }
}

fn unjoined(limit: usize) -> impl Fn() + Send + Sync + 'static {
    move || {
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..2 {
            let count = count.clone();
            thread::spawn(move || assert!(count.fetch_add(1, Relaxed) < limit));
        }
    }
}

violations! {
    /// An assertion of the main thread fails for want of an order.
    panic_in_main: "panic", message(Relaxed), message(Release);

    panic_in_a_thread_that_is_not_joined: "panic", unjoined(1), unjoined(2);

    panic_in_a_thread_that_is_joined: "panic",
        || thread::spawn(|| panic!("as planned")).join().unwrap(),
        || assert!(thread::spawn(|| panic!("as planned")).join().is_err());

    data_race: "data race", race(false), race(true);

    unpublished_atomic: "use of an unpublished object", publish(Relaxed), publish(Release);

    unpublished_cell: "use of an unpublished object", publish_cell(Relaxed), publish_cell(Release);

    deadlock_of_two_locks: "deadlock", two_locks(true), two_locks(false);

    deadlock_with_itself: "deadlock",
        || {
            let mutex = Mutex::new(1);
            let _guard = mutex.lock().unwrap();
            *mutex.lock().unwrap() += 1;
        },
        || {
            let mutex = Mutex::new(1);
            drop(mutex.lock().unwrap());
            *mutex.lock().unwrap() += 1;
        };

    lock_never_given_back: "deadlock",
        || {
            let mutex = Arc::new(Mutex::new(1));
            let theirs = mutex.clone();
            thread::spawn(move || std::mem::forget(theirs.lock().unwrap()));
            *mutex.lock().unwrap() += 1;
        },
        || {
            let mutex = Arc::new(Mutex::new(1));
            let theirs = mutex.clone();
            thread::spawn(move || drop(theirs.lock().unwrap()));
            *mutex.lock().unwrap() += 1;
        };

    deadlock_of_a_join: "deadlock",
        || {
            let mutex = Arc::new(Mutex::new(1));
            let theirs = mutex.clone();
            let guard = mutex.lock().unwrap();
            let t = thread::spawn(move || *theirs.lock().unwrap() += 1);
            t.join().unwrap();
            drop(guard);
        },
        || {
            let mutex = Arc::new(Mutex::new(1));
            let theirs = mutex.clone();
            let guard = mutex.lock().unwrap();
            let t = thread::spawn(move || *theirs.lock().unwrap() += 1);
            drop(guard);
            t.join().unwrap();
        };

    lock_given_back_twice: "bad unlock",
        || {
            let lock = RawMutex::new();
            lock.lock();
            lock.unlock();
            lock.unlock();
        },
        || {
            let lock = RawMutex::new();
            lock.lock();
            lock.unlock();
            assert!(lock.try_lock());
            lock.unlock();
        };

    lock_given_back_by_another_thread: "bad unlock",
        || {
            let lock = Arc::new(RawMutex::new());
            let theirs = lock.clone();
            lock.lock();
            thread::spawn(move || theirs.unlock()).join().unwrap();
        },
        || {
            let lock = Arc::new(RawMutex::new());
            let theirs = lock.clone();
            lock.lock();
            lock.unlock();
            thread::spawn(move || {
                theirs.lock();
                theirs.unlock();
            })
            .join()
            .unwrap();
        };

    livelock: "livelock",
        || {
            let flag = Arc::new(AtomicUsize::new(0));
            let theirs = flag.clone();
            thread::spawn(move || theirs.store(1, Release));
            while flag.load(Acquire) != 2 {}
        },
        || {
            let flag = Arc::new(AtomicUsize::new(0));
            let theirs = flag.clone();
            thread::spawn(move || theirs.store(2, Release));
            while flag.load(Acquire) != 2 {}
        };

    livelock_of_an_await: "livelock",
        || {
            let flag = Arc::new(AtomicBool::new(false));
            unpick::await_until(|| flag.load(Acquire));
        },
        || {
            let flag = Arc::new(AtomicBool::new(true));
            unpick::await_until(|| flag.load(Acquire));
        };
}

#[test]
fn a_long_token_goes_into_a_file() {
    let program = || {
        let x = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..30)
            .map(|n| {
                let x = x.clone();
                thread::spawn(move || {
                    for k in 0..20 {
                        x.store(n * k, Relaxed);
                    }
                })
            })
            .collect();
        for t in threads {
            t.join().unwrap();
        }
        panic!("at the end");
    };
    if is_child() {
        Check::new().check(program);
        return;
    }
    let finding = violated(program);
    let path = std::path::Path::new(&finding.token);
    if finding.token.len() > 120 || finding.token.contains('/') {
        assert!(path.is_file(), "{}", finding.token);
    }
    let output = child(&test_name!(a_long_token_goes_into_a_file), &[("UNPICK_REPLAY", &finding.token)]);
    let text = text_of(&output);
    assert!(text.contains("error: panic") && text.contains("at the end"), "{text}");
}

/// The environment is read where a user sets it, and the replayed execution is the only one.
#[test]
fn a_replay_under_another_model_keeps_its_own() {
    let program = || {
        let x = Arc::new(AtomicUsize::new(0));
        let y = Arc::new(AtomicUsize::new(0));
        let (x2, y2) = (x.clone(), y.clone());
        let t = thread::spawn(move || {
            x2.store(1, Release);
            y2.load(Acquire)
        });
        y.store(1, Release);
        let b = x.load(Acquire);
        assert!(t.join().unwrap() + b > 0);
    };
    if is_child() {
        Check::new().check(program);
        return;
    }
    let verdict = Check::new().model("ra").run(program).unwrap();
    let token = verdict.violation().unwrap().token.clone();
    let output = child(&test_name!(a_replay_under_another_model_keeps_its_own), &[("UNPICK_REPLAY", &token)]);
    let text = text_of(&output);
    assert!(text.contains("error: panic") && text.contains("model: ra"), "{text}");
}

#[test]
fn a_replay_with_a_spurious_failure_repeats_it() {
    let program = || {
        let x = AtomicUsize::new(0);
        x.compare_exchange_weak(0, 1, AcqRel, Relaxed).unwrap();
    };
    if is_child() {
        Check::new().check(program);
        return;
    }
    let verdict = Check::new().spurious_failures(true).run(program).unwrap();
    let token = verdict.violation().unwrap().token.clone();
    let output =
        child(&test_name!(a_replay_with_a_spurious_failure_repeats_it), &[("UNPICK_REPLAY", &token)]);
    let text = text_of(&output);
    assert!(text.contains("error: panic"), "{text}");
}

#[test]
fn a_replay_of_a_choice_repeats_it() {
    let program = || {
        let (a, b) = (unpick::choose(9), unpick::choose(9));
        assert!(a * 9 + b != 68);
    };
    if is_child() {
        Check::new().check(program);
        return;
    }
    let token = violated(program).token;
    let output = child(&test_name!(a_replay_of_a_choice_repeats_it), &[("UNPICK_REPLAY", &token)]);
    assert!(text_of(&output).contains("error: panic"), "{}", text_of(&output));
}

#[test]
fn a_mended_program_refuses_the_old_token() {
    if is_child() {
        Check::new().check(message(Release));
        return;
    }
    let token = violated(message(Relaxed)).token;
    let output = child(&test_name!(a_mended_program_refuses_the_old_token), &[("UNPICK_REPLAY", &token)]);
    let text = text_of(&output);
    assert_eq!(output.status.code(), Some(101), "{text}");
    assert!(text.contains("the schedule cannot be replayed"), "{text}");
}

#[test]
fn the_json_of_a_finding_is_there() {
    let finding = violated(two_locks(true));
    let json = unpick::report::json(&finding).to_string();
    assert!(json.contains("\"deadlock\""), "{json}");
}

#[test]
fn a_race_on_a_small_stack_is_told() {
    if !is_child() {
        let output = child(&test_name!(a_race_on_a_small_stack_is_told), &[]);
        assert!(output.status.success(), "{:?} {}", output.status, text_of(&output));
        return;
    }
    struct Shared(UnsafeCell<usize>);
    // SAFETY: what the test is about.
    unsafe impl Sync for Shared {}
    // SAFETY: as above.
    unsafe impl Send for Shared {}
    for size in [256 << 10, 64 << 10, 32 << 10, 16 << 10] {
        let verdict = Check::new().stack_size(size).run(|| {
            let x = Arc::new(Shared(UnsafeCell::new(0)));
            let y = x.clone();
            let t = thread::spawn(move || y.0.with_mut(|n| unsafe { *n += 1 }));
            x.0.with_mut(|n| unsafe { *n += 1 });
            t.join().unwrap();
        });
        assert!(verdict.unwrap().violation().is_some(), "{size}");
        eprintln!("{size} is fine");
    }
}

#[test]
fn a_race_tells_both_accesses_with_their_stacks() {
    let finding = violated(race(false));
    let stacks = &finding.trace.stacks;
    assert_eq!(stacks.len(), 2, "{}", told(&finding));
    for name in ["add_one", "read"] {
        let found = stacks.iter().any(|s| s.frames.iter().any(|frame| frame.function.contains(name)));
        assert!(found, "no stack with {name} in\n{}", told(&finding));
    }
}
