//! What belongs to the state of a thread in a loop: each part of it, left out, shows in a program of the library.
//!
//! In each program a round leaves something behind that only this part tells, and that breaks a property in the end.

use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Duration;

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
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
