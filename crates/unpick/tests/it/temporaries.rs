//! Loops whose rounds allocate memory and free it.

use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use unpick::sync::Mutex;
use unpick::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use unpick::{Check, Verdict, thread};

const ASSUMED: &str = "addresses of blocks that a round of a loop has allocated and freed do not matter";

fn explore(check: &Check, f: impl Fn() + Send + Sync + 'static) -> Verdict {
    check.run(f).unwrap_or_else(|error| panic!("{error}"))
}

/// Explores a program that does something in each round in which a flag is not set.
fn wait(strategy: &str, round: impl Fn() + Send + Sync + 'static) -> Verdict {
    explore(&Check::new().strategy(strategy), move || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {
            round();
        }
        other.join().unwrap();
    })
}

fn assumes(verdict: &Verdict) -> bool {
    verdict.assumptions().iter().any(|line| line.contains(ASSUMED))
}

#[test]
fn loops_with_temporaries_wait() {
    let rounds: [fn(); 6] = [
        || drop(black_box(vec![1_u8; 24])),
        || drop(black_box(vec![0_u64; 100])),
        || drop(black_box(format!("{} and {:?}", black_box(1), black_box("two")))),
        || drop(black_box((0..black_box(40)).map(|n| n.to_string()).collect::<Vec<_>>())),
        || drop(black_box(Rc::new(Cell::new(1)).clone())),
        || drop(black_box(Box::new([Box::new(1), Box::new(2)]))),
    ];
    for strategy in ["optimal", "in-order", "dpor", "chess"] {
        for (number, round) in rounds.into_iter().enumerate() {
            let verdict = wait(strategy, round);
            assert!(verdict.holds() && assumes(&verdict), "{strategy}, {number}: {verdict}");
        }
    }
}

#[test]
fn a_loop_without_temporaries_assumes_nothing_of_them() {
    let verdict = wait("optimal", || {});
    assert!(verdict.holds() && !assumes(&verdict), "{verdict}");
}

#[test]
fn a_loop_with_a_temporary_under_a_lock_waits() {
    let verdict = explore(&Check::new(), || {
        let lock = Arc::new(Mutex::new(String::from("no")));
        let theirs = lock.clone();
        let other = thread::spawn(move || theirs.lock().unwrap().replace_range(.., "ok"));
        while lock.lock().unwrap().clone() != "ok" {}
        other.join().unwrap();
    });
    assert!(verdict.holds() && assumes(&verdict), "{verdict}");
}

#[test]
fn a_loop_with_a_temporary_that_waits_in_vain_is_a_livelock() {
    for strategy in ["optimal", "in-order"] {
        let verdict = explore(&Check::new().strategy(strategy), || {
            let flag = Arc::new(AtomicBool::new(false));
            let theirs = flag.clone();
            thread::spawn(move || theirs.store(false, Release));
            while !flag.load(Acquire) {
                drop(black_box(vec![1_u8; 24]));
            }
        });
        let finding = verdict.violation().unwrap_or_else(|| panic!("{strategy}: {verdict}"));
        assert_eq!(finding.title, "livelock", "{strategy}");
    }
}

/// What a round does with its temporaries counts, whatever becomes of them.
#[test]
fn what_rounds_count_is_not_lost() {
    for strategy in ["optimal", "in-order", "dpor", "chess"] {
        let verdict = explore(&Check::new().strategy(strategy), || {
            let flag = Arc::new(AtomicBool::new(false));
            let theirs = flag.clone();
            let other = thread::spawn(move || theirs.store(true, Release));
            let mut tries = Box::new(0);
            while !flag.load(Acquire) {
                let text = black_box(tries.to_string());
                *tries = text.parse::<usize>().unwrap() + 1;
            }
            assert!(*tries < 4);
            other.join().unwrap();
        });
        let finding = verdict.violation().unwrap_or_else(|| panic!("{strategy}: {verdict}"));
        assert_eq!(finding.title, "panic", "{strategy}");
    }
}

/// A round that keeps a block, frees one that was there, or has one in place of another is not the same as none.
#[test]
fn rounds_that_change_which_blocks_there_are_do_not_wait() {
    let keeps = |kept: &mut Vec<Box<u8>>| kept.push(Box::new(1));
    let frees = |kept: &mut Vec<Box<u8>>| drop(kept.pop());
    let replaces = |kept: &mut Vec<Box<u8>>| kept[0] = black_box(Box::new(1));
    let rounds: [fn(&mut Vec<Box<u8>>); 3] = [keeps, frees, replaces];
    for (number, round) in rounds.into_iter().enumerate() {
        let verdict = explore(&Check::new().max_events(2000), move || {
            let flag = Arc::new(AtomicBool::new(false));
            let theirs = flag.clone();
            let other = thread::spawn(move || theirs.store(true, Release));
            let mut kept = Vec::with_capacity(200);
            kept.extend((0..3).map(|_| Box::new(1)));
            while !flag.load(Acquire) {
                round(&mut kept);
            }
            assert!(number == 2 || (1..6).contains(&kept.len()));
            other.join().unwrap();
        });
        match number {
            2 => assert!(verdict.violation().is_none() && !verdict.holds(), "{verdict}"),
            _ => assert!(verdict.violation().is_some(), "{number}: {verdict}"),
        }
    }
}

/// Others may see the address of a block while it is there.
#[test]
fn a_round_that_shows_its_temporary_to_others_counts() {
    let verdict = explore(&Check::new().max_events(200), || {
        let flag = Arc::new(AtomicBool::new(false));
        let shown = Arc::new(AtomicPtr::new(std::ptr::null_mut()));
        let addresses = (flag.clone(), shown.clone());
        let other = thread::spawn(move || {
            let (flag, shown) = addresses;
            let first: *mut u64 = shown.load(Acquire);
            let second = shown.load(Acquire);
            let third = shown.load(Acquire);
            let all = [first, second, third];
            let differ = first != second && second != third && !all.contains(&std::ptr::null_mut());
            flag.store(true, Release);
            assert!(!differ);
        });
        while !flag.load(Acquire) {
            let mut own = black_box(Box::new(1_u64));
            shown.store(&raw mut *own, Release);
        }
        other.join().unwrap();
    });
    assert!(!verdict.holds(), "{verdict}");
}

/// Objects in temporaries are new ones in each round.
#[test]
fn a_loop_with_an_atomic_in_a_temporary_is_not_taken_for_another() {
    let verdict = wait("optimal", || {
        let own = black_box(Box::new(AtomicUsize::new(0)));
        own.store(1, Relaxed);
        assert_eq!(own.load(Relaxed), 1);
    });
    assert!(verdict.violation().is_none(), "{verdict}");
}

/// A loop that ends by itself is followed to its end, also if it allocates.
#[test]
fn a_loop_that_collects_ends_by_itself() {
    let verdict = explore(&Check::new(), || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        let mut seen = Vec::new();
        while !flag.load(Acquire) && seen.len() < 150 {
            seen.push(black_box(vec![1_u8; 24]));
        }
        assert!(seen.len() < 150);
        other.join().unwrap();
    });
    let finding = verdict.violation().unwrap_or_else(|| panic!("{verdict}"));
    assert_eq!(finding.title, "panic");
}
