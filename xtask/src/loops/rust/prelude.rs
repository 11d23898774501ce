//! Programs with waiting loops: `loops-fuzz NUMBER FORM ROUNDS` explores one of them, and `loops-fuzz` those that its input names.

#![allow(unused, reason = "programs use some of what is there")]

use std::cell::Cell;
use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::atomic::AtomicUsize as StdUsize;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::{Arc, Mutex};
use unpick::{Check, thread};

/// What the threads of a program share.
struct Shared {
    numbers: [AtomicUsize; 4],
    locked: Mutex<usize>,
}

impl Shared {
    fn new(numbers: [usize; 4], locked: usize) -> Shared {
        Shared { numbers: numbers.map(AtomicUsize::new), locked: Mutex::new(locked) }
    }
}

/// What is there before the check.
type Captured = [StdUsize; 8];

/// Starts a thread. There is one copy of this, since copies for each thread take long to build.
#[inline(never)]
fn start(body: Body, shared: &Arc<Shared>, captured: &'static Captured) -> thread::JoinHandle<()> {
    let shared = shared.clone();
    thread::spawn(move || body(&shared, captured))
}

type Body = fn(&Shared, &'static Captured);

/// Exchanges a number for another one; the one that was there.
#[inline(always)]
fn exchange(variable: &AtomicUsize, from: usize, to: usize, order: Ordering) -> usize {
    match variable.compare_exchange(from, to, order, Relaxed) {
        Ok(number) | Err(number) => number,
    }
}

/// The number under a lock, which is given back at once.
#[inline(always)]
fn look(lock: &Mutex<usize>) -> usize {
    *lock.lock().unwrap()
}

/// The number under a lock, if it can be had at once.
#[inline(always)]
fn try_look(lock: &Mutex<usize>) -> usize {
    lock.try_lock().map_or(9, |number| *number)
}

/// How many rounds a loop of a bounded program has, and whether it matters who has given up after them.
static ROUNDS: StdUsize = StdUsize::new(0);
static ASKS_FOR_ENDLESS: StdUsize = StdUsize::new(0);
/// The loops that were given up, a bit each.
static GIVEN_UP: StdUsize = StdUsize::new(0);

fn begin() {
    GIVEN_UP.store(0, Relaxed);
}

fn rounds() -> usize {
    ROUNDS.load(Relaxed)
}

fn asks_for_endless() -> bool {
    ASKS_FOR_ENDLESS.load(Relaxed) == 1
}

fn out_of_rounds(wait: usize) {
    GIVEN_UP.fetch_or(1 << wait, Relaxed);
}

fn wait_is_over(wait: usize, now: bool) -> usize {
    usize::from(now && GIVEN_UP.load(Relaxed) >> wait & 1 == 1)
}

fn end_of_waits(over: usize) {
    let given_up = GIVEN_UP.load(Relaxed) != 0;
    assert!(!asks_for_endless() || !given_up || over > 0, "threads wait for ever");
    unpick::assume(!given_up);
}

#[track_caller]
fn require(condition: bool) {
    if asks_for_endless() {
        unpick::assume(condition);
    } else {
        assert!(condition);
    }
}

#[derive(Clone, Copy)]
enum Form {
    Real,
    Bounded,
}

/// Explores a program, as words say: its number, its form, and how many rounds a loop has. Unless the environment says them, further
/// words are the model, whether loops are recognised, how many violations are looked for, and for how many seconds.
fn explore(words: &[&str]) {
    let number = |index: usize| words[index].parse::<usize>().expect("a number");
    let form = if words[1] == "real" { Form::Real } else { Form::Bounded };
    ROUNDS.store(number(2), Relaxed);
    ASKS_FOR_ENDLESS.store(usize::from(words[1] == "endless"), Relaxed);
    let program = find(number(0), form);
    let captured: &'static Captured = Box::leak(Box::default());
    let mut check = Check::new();
    if words.len() > 3 {
        check = check.model(words[3]).loops(words[4] == "on").keep_going(number(5));
        check = check.time_limit(Duration::from_secs(number(6) as u64));
    }
    match check.run(move || program(captured)) {
        Ok(verdict) if verdict.violation().is_some() => {
            let titles: BTreeSet<&str> = verdict.violations().map(|finding| finding.title.as_str()).collect();
            println!("violated: {}", titles.into_iter().collect::<Vec<_>>().join(", "));
        }
        Ok(verdict) => println!("{verdict}"),
        Err(error) => println!("error: {error}"),
    }
}

/// Explores the program that the arguments say, or else one for each line of the input.
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.is_empty() {
        explore(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        return;
    }
    for line in std::io::stdin().lines() {
        explore(&line.expect("a line").split(' ').collect::<Vec<_>>());
        println!("that is all");
    }
}
