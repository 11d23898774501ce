//! Mistakes with the primitives: each is found, replayed from its token by another process, and the
//! mended program holds.

use std::sync::Arc;

use unpick::sync::atomic::Ordering::{self, *};
use unpick::sync::atomic::{AtomicBool, AtomicUsize};
use unpick::sync::{Barrier, Condvar, Mutex, OnceLock, RwLock};
use unpick::{Check, await_until, thread};

use crate::support::*;
use crate::violations::body;

macro_rules! mistakes {
    ($($(#[$doc:meta])* $name:ident: $title:literal, $check:expr, $broken:expr, $mended:expr;)*) => {
        $(
            $(#[$doc])*
            #[test]
            fn $name() {
                if is_child() {
                    $check.check($broken);
                    return;
                }
                let verdict = $check.run($broken).unwrap_or_else(|error| panic!("{error}"));
                let finding = verdict.violation().unwrap_or_else(|| panic!("nothing was found: {verdict}"));
                assert_eq!(finding.title, $title, "{}", told(finding));
                let output = child(&test_name!($name), &[("UNPICK_REPLAY", &finding.token)]);
                let text = text_of(&output);
                assert_eq!(output.status.code(), Some(101), "{text}");
                let start = text.find("error: ").unwrap_or_else(|| panic!("no report in\n{text}"));
                assert_eq!(body(&text[start..]), body(&told(finding)), "replayed by another process");
                let verdict = $check.run($mended).unwrap_or_else(|error| panic!("{error}"));
                counts(&verdict);
            }
        )*
    };
}

/// Somebody waits for a flag that is set with the mutex held, or not.
fn lost_wakeup(locks: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
        let theirs = shared.clone();
        let setter = thread::spawn(move || {
            let (mutex, condition, flag) = &*theirs;
            let guard = locks.then(|| mutex.lock().unwrap());
            flag.store(true, Release);
            drop(guard);
            condition.notify_one();
        });
        let (mutex, condition, flag) = &*shared;
        let mut guard = mutex.lock().unwrap();
        while !flag.load(Acquire) {
            guard = condition.wait(guard).unwrap();
        }
        drop(guard);
        setter.join().unwrap();
    }
}

/// Threads wait for different numbers at one condition; their numbers are not in the order in which
/// the threads are spawned when the schedule is followed.
fn wrong_waiter(all: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let until = |wanted: u32| {
            let shared = shared.clone();
            move || drop(shared.1.wait_while(shared.0.lock().unwrap(), |number| *number < wanted).unwrap())
        };
        let (one, nested, two) = (until(1), until(2), until(2));
        let first = thread::spawn(move || {
            let nested = thread::spawn(nested);
            one();
            nested.join().unwrap();
        });
        let second = thread::spawn(two);
        for _ in 0..2 {
            *shared.0.lock().unwrap() += 1;
            if all { shared.1.notify_all() } else { shared.1.notify_one() }
        }
        shared.1.notify_one();
        first.join().unwrap();
        second.join().unwrap();
    }
}

/// It matters which of two threads is woken, and in the failing execution the threads are spawned in
/// another order than in the first.
fn one_of_two(any: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new((Mutex::new(()), Condvar::new(), AtomicUsize::new(0), AtomicUsize::new(0)));
        let waiter = |name: usize| {
            let shared = shared.clone();
            move || {
                let (mutex, condition, waiting, woken) = &*shared;
                let guard = mutex.lock().unwrap();
                waiting.fetch_add(1, Relaxed);
                drop(condition.wait(guard).unwrap());
                woken.fetch_add(name, Relaxed);
            }
        };
        let started = Arc::new(AtomicBool::new(false));
        let theirs = started.clone();
        let nested = waiter(1);
        let first = thread::spawn(move || {
            let nested = thread::spawn(nested);
            theirs.store(true, Relaxed);
            nested.join().unwrap();
        });
        let late = started.load(Relaxed);
        let second = thread::spawn(waiter(2));
        let (mutex, condition, waiting, woken) = &*shared;
        await_until(|| waiting.load(Relaxed) == 2);
        drop(mutex.lock().unwrap());
        condition.notify_one();
        await_until(|| woken.load(Relaxed) != 0);
        assert!(any || late || woken.load(Relaxed) == 2, "the second is woken");
        condition.notify_one();
        first.join().unwrap();
        second.join().unwrap();
    }
}

/// The flag is looked at before the thread parks, and whether it is about to park before it is woken.
fn missed_unpark(order: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
        let theirs = shared.clone();
        let sleeper = thread::spawn(move || {
            let (parks, ready) = &*theirs;
            parks.store(true, order);
            while !ready.load(order) {
                thread::park();
            }
        });
        let (parks, ready) = &*shared;
        ready.store(true, order);
        if parks.load(order) {
            sleeper.thread().unpark();
        }
        sleeper.join().unwrap();
    }
}

fn barrier(parties: usize) -> impl Fn() + Send + Sync + 'static {
    move || {
        let barrier = Barrier::new(parties);
        thread::scope(|scope| {
            scope.spawn(|| barrier.wait());
            scope.spawn(|| barrier.wait());
        });
    }
}

/// A writer panics between two steps that belong together.
fn poisoned(ignored: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let lock = Arc::new(RwLock::new((0, 0)));
        let theirs = lock.clone();
        let writer = thread::spawn(move || {
            let mut pair = theirs.write().unwrap();
            pair.0 += 1;
            assert_eq!(pair.1, 1, "half done");
            pair.1 += 1;
        });
        match lock.read() {
            Ok(pair) => assert_eq!(pair.0, pair.1),
            Err(poisoned) if ignored => {
                let pair = poisoned.into_inner();
                assert_eq!(pair.0, pair.1, "the pair is whole");
            }
            Err(_) => {}
        }
        assert!(writer.join().is_err());
    }
}

/// A value is looked for, and set if it is not there.
fn set_after_look(whole: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let cell = Arc::new(OnceLock::new());
        let theirs = cell.clone();
        let get = move |cell: &OnceLock<u32>, value| {
            if whole {
                return *cell.get_or_init(|| value);
            }
            if cell.get().is_none() {
                cell.set(value).expect("nobody has set it");
            }
            *cell.get().unwrap()
        };
        let other = thread::spawn(move || get(&theirs, 1));
        let mine = get(&cell, 2);
        assert_eq!(mine, other.join().unwrap());
    }
}

/// A number is read, and then written.
fn lost_update(whole: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let lock = Arc::new(RwLock::new(0));
        let add = move |lock: &RwLock<u32>| {
            if whole {
                *lock.write().unwrap() += 1;
            } else {
                let old = *lock.read().unwrap();
                *lock.write().unwrap() = old + 1;
            }
        };
        let theirs = lock.clone();
        let other = thread::spawn(move || {
            let nested = theirs.clone();
            thread::spawn(move || add(&nested)).join().unwrap();
        });
        let theirs = lock.clone();
        let another = thread::spawn(move || add(&theirs));
        another.join().unwrap();
        other.join().unwrap();
        assert_eq!(*lock.read().unwrap(), 2);
    }
}

/// Whether a wait is over is not looked at again when a thread wakes up.
fn trusting(looks: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new((Mutex::new(0), Condvar::new(), AtomicUsize::new(0)));
        let theirs = shared.clone();
        let setter = thread::spawn(move || {
            *theirs.0.lock().unwrap() = 1;
            theirs.1.notify_one();
        });
        let (mutex, condition, count) = &*shared;
        let mut guard = mutex.lock().unwrap();
        while *guard == 0 {
            guard = condition.wait(guard).unwrap();
            if !looks {
                break;
            }
        }
        assert_eq!(*guard, 1, "what was waited for");
        count.store(1, Relaxed);
        drop(guard);
        setter.join().unwrap();
    }
}

/// As above, with parking.
fn trusting_parker(looks: bool) -> impl Fn() + Send + Sync + 'static {
    move || {
        let ready = Arc::new(AtomicBool::new(false));
        let theirs = ready.clone();
        let sleeper = thread::spawn(move || {
            thread::park();
            while looks && !theirs.load(Acquire) {
                thread::park();
            }
            assert!(theirs.load(Acquire), "what was waited for");
        });
        ready.store(true, Release);
        sleeper.thread().unpark();
        sleeper.join().unwrap();
    }
}

mistakes! {
    a_lost_wakeup: "deadlock", Check::new(), lost_wakeup(false), lost_wakeup(true);
    the_wrong_waiter_is_woken: "deadlock", Check::new(), wrong_waiter(false), wrong_waiter(true);
    one_of_two_is_woken: "panic", Check::new(), one_of_two(false), one_of_two(true);
    a_missed_unpark: "deadlock", Check::new(), missed_unpark(Relaxed), missed_unpark(SeqCst);
    a_barrier_for_one_too_many: "deadlock", Check::new(), barrier(3), barrier(2);
    poison_that_is_ignored: "panic", Check::new(), poisoned(true), poisoned(false);
    a_value_that_is_set_twice: "panic", Check::new(), set_after_look(false), set_after_look(true);
    a_lost_update: "panic", Check::new(), lost_update(false), lost_update(true);
    a_spurious_wakeup: "panic", Check::new().spurious_wakeups(true), trusting(false), trusting(true);
    a_spurious_unpark: "panic", Check::new().spurious_wakeups(true), trusting_parker(false), trusting_parker(true);
}

#[test]
fn without_the_setting_nobody_wakes_up_spuriously() {
    // The setter comes first, or the waiter does.
    assert_eq!(holds(trusting(false)), (2, 0));
    // The sleeper may look before, but it parks first.
    assert_eq!(holds(trusting_parker(false)), (1, 0));
}
