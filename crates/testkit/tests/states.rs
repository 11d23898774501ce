//! What belongs to the state of a thread in a loop, and what is looked at where tries of locks are choices: each part, left out,
//! shows in a program of the library.
//!
//! In each program, only this part tells what breaks a property in the end.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

use unpick::sync::atomic::{AtomicBool, AtomicPtr};
use unpick::sync::{Arc, Mutex};
use unpick::time::Instant;
use unpick::{Check, thread};
use unpick_core::mutant::{self, Mutant};

/// Asks that the program breaks a property, and that it is missed with the mistake.
fn is_missed(mistake: Mutant, program: fn()) {
    let check = Check::new().leaks(false).time_limit(Duration::from_secs(20));
    let is_violated = || check.run(program).is_ok_and(|verdict| verdict.violation().is_some());
    assert!(is_violated(), "{mistake:?}: the program does not break a property");
    mutant::choose(Some(mistake));
    let noticed = !is_violated();
    mutant::choose(None);
    assert!(noticed, "{mistake:?} goes unnoticed");
}

/// Runs `body` until another thread says so.
fn until_told(mut body: impl FnMut()) {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = flag.clone();
    let other = thread::spawn(move || theirs.store(true, Release));
    while !flag.load(Acquire) {
        body();
    }
    other.join().unwrap();
}

#[test]
fn registers() {
    is_missed(Mutant::NumbersIgnored, || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        let mut rounds = 0;
        while !flag.load(Acquire) {
            rounds += 1;
        }
        other.join().unwrap();
        assert!(rounds < 3);
    });
}

#[test]
fn the_clock() {
    is_missed(Mutant::HiddenStateIgnored, || {
        let start = Instant::now();
        until_told(|| thread::sleep(Duration::from_millis(1)));
        assert!(start.elapsed() < Duration::from_millis(3));
    });
}

/// Takes one lock and tries the other one; whether it has got it.
fn try_both(first: &Mutex<()>, second: &Mutex<()>) -> bool {
    let _first = first.lock().unwrap();
    second.try_lock().is_ok()
}

/// Begins with one lock and with the other one in turn.
fn take_turns(one: &Mutex<()>, other: &Mutex<()>) {
    for _ in 0..2 {
        if try_both(one, other) || try_both(other, one) {
            return;
        }
    }
}

/// Has two threads get in each other's way, and then lets one go on with `then` and the other one with `meanwhile`: that
/// only if it has read an old value, which searches come to last.
fn after_turns(then: impl FnOnce(&[Mutex<()>; 3]) + Send + 'static, meanwhile: impl FnOnce(&[Mutex<()>; 3])) {
    let shared = Arc::new(([const { Mutex::new(()) }; 3], AtomicBool::new(false)));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        let (locks, flag) = &*theirs;
        let old = !flag.load(Relaxed);
        take_turns(&locks[0], &locks[1]);
        if old {
            then(locks);
        }
    });
    let (locks, flag) = &*shared;
    flag.store(true, Relaxed);
    take_turns(&locks[1], &locks[0]);
    meanwhile(locks);
    other.join().unwrap();
}

#[test]
fn kept_locks() {
    is_missed(Mutant::KeptLocksIgnored, || {
        after_turns(
            |locks| while !try_both(&locks[0], &locks[2]) {},
            |locks| std::mem::forget(locks[2].lock().unwrap()),
        );
    });
}

#[test]
fn touched_locks() {
    is_missed(Mutant::TriesTouchNothing, || {
        let shown = Arc::new(AtomicPtr::<Mutex<()>>::default());
        let theirs = shown.clone();
        after_turns(
            move |locks| {
                let lock = theirs.load(Relaxed);
                if !lock.is_null() {
                    // SAFETY: the lock is never freed.
                    try_both(&locks[0], unsafe { &*lock });
                }
            },
            move |_| {
                let lock = Box::leak(Box::new(Mutex::new(())));
                std::mem::forget(lock.lock().unwrap());
                shown.store(lock, Relaxed);
            },
        );
    });
}
