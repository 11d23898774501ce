//! What the program does besides: printing, allocating; and many checks at once.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use unpick::sync::Mutex;
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::{choose, thread};

use crate::support::*;

#[test]
fn a_program_prints() {
    holds(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || {
            println!("a thread prints {}", "word ".repeat(50));
            y.store(1, Relaxed);
        });
        println!("main saw {} {}", x.load(Relaxed), "word ".repeat(50));
        eprintln!("and complains");
        t.join().unwrap();
    });
    println!("and after");
}

/// What a harness captures is kept in a buffer that outlives every execution. It must not lie in
/// the memory of one, even if nothing is printed at first.
#[test]
fn what_later_executions_print_is_captured() {
    if !is_child() {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        let name = test_name!(what_later_executions_print_is_captured);
        let output = command.args([&*name, "--exact"]).env("CHECKED_IT_CHILD", "1").output().unwrap();
        let text = text_of(&output);
        assert!(text.contains("and fails to be shown"), "{text}");
        for n in 1..40 {
            assert!(text.contains(&format!("execution {n} prints some words\n")), "{n}: {text:?}");
        }
        return;
    }
    holds(|| {
        let n = choose(40);
        let before = vec![0xffu8; n * 8];
        if n > 0 {
            println!("execution {n} prints some words");
        }
        let after = vec![0xffu8; 4096];
        assert!(before.iter().chain(&after).all(|&byte| byte == 0xff));
    });
    panic!("and fails to be shown");
}

/// Only what a harness captures is opened by printing: a log has nothing of it.
#[test]
fn a_check_prints_nothing_by_itself() {
    if is_child() {
        for _ in 0..3 {
            holds(|| assert!(choose(2) < 2));
            std::thread::spawn(|| holds(|| assert!(choose(2) < 2))).join().unwrap();
        }
        return;
    }
    let output = child(&test_name!(a_check_prints_nothing_by_itself), &[]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}

#[test]
fn maps_with_random_keys_do_not_matter_by_themselves() {
    let (executions, _) = holds(|| {
        let mut map = HashMap::new();
        let n = choose(20);
        (0..n).for_each(|k| drop(map.insert(k, format!("value {k}"))));
        let shared = Arc::new(Mutex::new(map));
        let theirs = shared.clone();
        let t = thread::spawn(move || theirs.lock().unwrap().insert(1000, String::new()));
        let len = shared.lock().unwrap().len();
        assert!(len == n || len == n + 1);
        t.join().unwrap();
        assert_eq!(shared.lock().unwrap().len(), n + 1);
    });
    assert_eq!(executions, 40);
}

#[test]
fn a_program_allocates_much() {
    let (executions, _) = holds(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || {
            let mut numbers = Vec::new();
            for n in 0..100_000u64 {
                numbers.push(n);
            }
            y.fetch_add(numbers.iter().sum::<u64>() as usize, Relaxed);
            let mut boxes: Vec<Box<[u8; 1000]>> = (0..3000).map(|n| Box::new([n as u8; 1000])).collect();
            boxes.retain(|b| b[0] % 2 == 0);
            boxes.iter().map(|b| usize::from(b[999])).sum::<usize>()
        });
        let mut text = String::new();
        for n in 0..50_000 {
            text.push_str(&n.to_string());
        }
        assert_eq!(text.len(), 238_890);
        let big = vec![1u8; 4 << 20];
        x.fetch_add(1, Relaxed);
        assert!(t.join().unwrap() > 0);
        assert_eq!(x.load(Relaxed), 4_999_950_001);
        assert_eq!(big[big.len() - 1], 1);
    });
    assert_eq!(executions, 2);
}

#[test]
fn a_program_allocates_more_than_an_arena_holds() {
    holds(|| {
        choose(3);
        let blocks: Vec<Vec<u8>> = (0..10u8).map(|n| vec![n; 10 << 20]).collect();
        assert!(blocks.iter().enumerate().all(|(n, b)| b[b.len() - 1] == n as u8));
    });
}

#[test]
fn zeroed_memory_is_zeroed_in_every_execution() {
    holds(|| {
        let n = choose(10);
        let mut zeros = vec![0u8; 10_000];
        assert!(zeros.iter().all(|&b| b == 0));
        zeros.fill(n as u8 + 1);
        let aligned = Box::new(Aligned([n; 8]));
        assert_eq!((&raw const *aligned) as usize % 256, 0);
        assert_eq!(aligned.0[7], n);
    });
    #[repr(align(256))]
    struct Aligned([usize; 8]);
}

#[test]
fn a_large_closure() {
    let numbers = [7u64; 4000];
    let text = String::from("captured");
    let (executions, _) = passes(move || {
        assert_eq!(numbers.iter().sum::<u64>(), 28_000);
        let (copy, text) = (numbers, text.clone());
        let t = thread::spawn(move || (copy[3999], text.len()));
        choose(5);
        assert_eq!(t.join().unwrap(), (7, 8));
    });
    assert_eq!(executions, 5);
}

#[test]
fn checks_at_the_same_time_do_not_mix() {
    let workers: Vec<_> = (0..4usize)
        .map(|worker| {
            std::thread::spawn(move || {
                for round in 0..75usize {
                    let threads = 2 + (worker + round) % 3;
                    let (executions, _) = holds(move || {
                        let n = Arc::new(Mutex::new(Vec::new()));
                        let handles: Vec<_> = (0..threads)
                            .map(|t| {
                                let n = n.clone();
                                thread::spawn(move || n.lock().unwrap().push(t * worker))
                            })
                            .collect();
                        handles.into_iter().for_each(|t| t.join().unwrap());
                        let n = n.lock().unwrap();
                        assert_eq!(n.iter().sum::<usize>(), worker * (0..threads).sum::<usize>());
                    });
                    assert_eq!(executions, [2, 6, 24][threads - 2]);
                    if round % 10 == 0 {
                        let finding = violated(move || panic!("from worker {worker}"));
                        assert!(told(&finding).contains(&format!("from worker {worker}")));
                    }
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|w| w.join().unwrap());
}

/// Memory in use at most so far, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn memory_does_not_grow_with_the_number_of_executions() {
    if !is_child() {
        let output = child(&test_name!(memory_does_not_grow_with_the_number_of_executions), &[]);
        assert!(output.status.success(), "{}", text_of(&output));
        return;
    }
    let program = |limit| {
        let check = unpick::Check::new().strategy("optimal").max_executions(limit);
        let verdict = check.run(|| {
            let x = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..4)
                .map(|n| {
                    let x = x.clone();
                    thread::spawn(move || {
                        let boxed = Box::new([n; 100]);
                        for _ in 0..4 {
                            x.fetch_add(boxed[99], Relaxed);
                        }
                    })
                })
                .collect();
            threads.into_iter().for_each(|t| t.join().unwrap());
        });
        assert_eq!(verdict.unwrap().stats().executions, limit);
    };
    program(1_000);
    let before = peak();
    program(200_000);
    let after = peak();
    assert!(after < before + 8 * 1024, "{before} KiB, then {after} KiB");
}

#[test]
fn memory_does_not_grow_with_blocked_executions_or_panics() {
    if !is_child() {
        let output = child(&test_name!(memory_does_not_grow_with_blocked_executions_or_panics), &[]);
        assert!(output.status.success(), "{}", text_of(&output));
        return;
    }
    let program = |limit| {
        let check = unpick::Check::new().strategy("optimal").max_executions(limit);
        let verdict = check.run(|| {
            let n = choose(30_000);
            let t = thread::spawn(move || {
                let text = vec![n; 1000];
                assert!(n > 30_000, "{text:?}");
            });
            assert!(t.join().is_err());
            let _kept = vec![n; 1000];
            unpick::assume(n.is_multiple_of(2));
        });
        assert!(verdict.unwrap().violation().is_none());
    };
    program(500);
    let before = peak();
    program(20_000);
    let after = peak();
    assert!(after < before + 8 * 1024, "{before} KiB, then {after} KiB");
}

#[test]
fn memory_does_not_grow_with_the_number_of_checks() {
    if !is_child() {
        let output = child(&test_name!(memory_does_not_grow_with_the_number_of_checks), &[]);
        assert!(output.status.success(), "{}", text_of(&output));
        return;
    }
    let checks = |count| {
        for _ in 0..count {
            holds(|| {
                let x = Arc::new(AtomicUsize::new(0));
                let y = x.clone();
                let t = thread::spawn(move || y.store(1, Relaxed));
                let _kept = vec![x.load(Relaxed); 1000];
                t.join().unwrap();
            });
        }
    };
    checks(50);
    let before = peak();
    checks(1000);
    let after = peak();
    assert!(after < before + 8 * 1024, "{before} KiB, then {after} KiB");
}

#[test]
fn what_is_kept_from_one_execution_to_the_next_is_made_outside() {
    let seen = Arc::new(std::sync::Mutex::new((BTreeSet::new(), Vec::new())));
    let theirs = seen.clone();
    holds(move || {
        let n = choose(200);
        let noise = vec![0xffu8; 5000];
        unpick::outside(|| {
            let mut seen = theirs.lock().unwrap();
            seen.0.insert(n);
            seen.1.push(format!("outcome {n}"));
        });
        drop(noise);
    });
    let seen = seen.lock().unwrap();
    assert_eq!(seen.0, (0..200).collect());
    // The first execution is run twice: once to warm up.
    assert!(seen.1.iter().all(|text| text.starts_with("outcome ")) && seen.1.len() >= 200);
}
