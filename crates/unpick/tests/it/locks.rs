//! Locks that users write, without annotations, and loops that look like waiting but are not.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::Ordering::*;
use unpick::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
use unpick::{Check, Verdict, await_until, choose, hint, thread};

use crate::support::*;

/// What a lock does in its loop besides looking.
trait Pause: Send + Sync + 'static {
    fn pause();
}

struct Nothing;
impl Pause for Nothing {
    #[inline(always)]
    fn pause() {}
}

struct Hint;
impl Pause for Hint {
    #[inline(always)]
    fn pause() {
        hint::spin_loop();
    }
}

struct Yield;
impl Pause for Yield {
    #[inline(always)]
    fn pause() {
        thread::yield_now();
    }
}

trait Lock: Send + Sync + 'static {
    fn new() -> Self;
    /// Runs `f` inside the lock.
    fn locked<P: Pause>(&self, f: impl FnOnce());
}

/// Test, then test and set. `unlock` is the order in which it is given back.
struct Ttas(AtomicBool);

impl Lock for Ttas {
    fn new() -> Ttas {
        Ttas(AtomicBool::new(false))
    }

    fn locked<P: Pause>(&self, f: impl FnOnce()) {
        loop {
            while self.0.load(Relaxed) {
                P::pause();
            }
            if !self.0.swap(true, Acquire) {
                break;
            }
        }
        f();
        self.0.store(false, Release);
    }
}

/// Test and set.
struct Tas(AtomicBool);

impl Lock for Tas {
    fn new() -> Tas {
        Tas(AtomicBool::new(false))
    }

    fn locked<P: Pause>(&self, f: impl FnOnce()) {
        while self.0.swap(true, Acquire) {
            P::pause();
        }
        f();
        self.0.store(false, Release);
    }
}

struct Ticket {
    next: AtomicUsize,
    serving: AtomicUsize,
}

impl Lock for Ticket {
    fn new() -> Ticket {
        Ticket { next: AtomicUsize::new(0), serving: AtomicUsize::new(0) }
    }

    fn locked<P: Pause>(&self, f: impl FnOnce()) {
        let mine = self.next.fetch_add(1, Relaxed);
        while self.serving.load(Acquire) != mine {
            P::pause();
        }
        f();
        self.serving.store(mine + 1, Release);
    }
}

/// A word that is exchanged from 0 to 1.
struct Exchange(AtomicUsize);

impl Lock for Exchange {
    fn new() -> Exchange {
        Exchange(AtomicUsize::new(0))
    }

    fn locked<P: Pause>(&self, f: impl FnOnce()) {
        while self.0.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            P::pause();
        }
        f();
        self.0.store(0, Release);
    }
}

/// As `Exchange`, with the weak one and a look before.
struct LookAndExchange(AtomicUsize);

impl Lock for LookAndExchange {
    fn new() -> LookAndExchange {
        LookAndExchange(AtomicUsize::new(0))
    }

    fn locked<P: Pause>(&self, f: impl FnOnce()) {
        let mut seen = self.0.load(Relaxed);
        loop {
            if seen == 0 {
                match self.0.compare_exchange_weak(0, 1, Acquire, Relaxed) {
                    Ok(_) => break,
                    Err(now) => seen = now,
                }
            } else {
                P::pause();
                seen = self.0.load(Relaxed);
            }
        }
        f();
        self.0.store(0, Release);
    }
}

struct Node {
    next: AtomicPtr<Node>,
    waits: AtomicBool,
}

/// Mellor-Crummey and Scott's queue of nodes.
struct Mcs(AtomicPtr<Node>);

impl Lock for Mcs {
    fn new() -> Mcs {
        Mcs(AtomicPtr::new(std::ptr::null_mut()))
    }

    fn locked<P: Pause>(&self, f: impl FnOnce()) {
        let node = Box::into_raw(Box::new(Node {
            next: AtomicPtr::new(std::ptr::null_mut()),
            waits: AtomicBool::new(true),
        }));
        // SAFETY: nodes are freed by their owner, after the next in the queue was told.
        unsafe {
            let before = self.0.swap(node, AcqRel);
            if !before.is_null() {
                (*before).next.store(node, Release);
                while (*node).waits.load(Acquire) {
                    P::pause();
                }
            }
            f();
            if self.0.compare_exchange(node, std::ptr::null_mut(), AcqRel, Acquire).is_err() {
                let mut next = (*node).next.load(Acquire);
                while next.is_null() {
                    P::pause();
                    next = (*node).next.load(Acquire);
                }
                (*next).waits.store(false, Release);
            }
            drop(Box::from_raw(node));
        }
    }
}

struct Guarded<L> {
    lock: L,
    count: UnsafeCell<usize>,
}

// SAFETY: what the tests are about.
unsafe impl<L: Send> Send for Guarded<L> {}
// SAFETY: as above.
unsafe impl<L: Sync> Sync for Guarded<L> {}

/// Threads that count inside a lock.
fn counting<L: Lock, P: Pause>(threads: usize, rounds: usize) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new(Guarded { lock: L::new(), count: UnsafeCell::new(0) });
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    for _ in 0..rounds {
                        shared.lock.locked::<P>(|| shared.count.with_mut(|count| unsafe { *count += 1 }));
                    }
                })
            })
            .collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
        assert_eq!(shared.count.with(|count| unsafe { *count }), threads * rounds);
    }
}

/// A proof that rests on no bound.
#[track_caller]
pub(crate) fn proved(name: &str, verdict: &Verdict) {
    counts(verdict);
    let bounds: Vec<_> = verdict.assumptions().iter().filter(|a| a.contains("the loop")).collect();
    assert!(bounds.is_empty(), "{name}: {bounds:?}");
}

fn verified<L: Lock>(name: &str) {
    fn one<L: Lock, P: Pause>(name: &str) {
        for (threads, rounds) in [(2, 2), (3, 1)] {
            let check = Check::new().time_limit(Duration::from_secs(20));
            let verdict = check.run(counting::<L, P>(threads, rounds)).unwrap();
            proved(&format!("{name} {threads}x{rounds}"), &verdict);
        }
    }
    one::<L, Nothing>(name);
    one::<L, Hint>(name);
    one::<L, Yield>(name);
}

#[test]
fn ttas_verifies() {
    verified::<Ttas>("ttas");
}

#[test]
fn tas_verifies() {
    verified::<Tas>("tas");
}

#[test]
fn ticket_verifies() {
    verified::<Ticket>("ticket");
}

#[test]
fn exchange_verifies() {
    verified::<Exchange>("exchange");
    verified::<LookAndExchange>("look and exchange");
}

#[test]
fn mcs_verifies() {
    verified::<Mcs>("mcs");
}

#[test]
fn locks_verify_under_other_models() {
    for model in ["sc", "tso", "ra", "rc11"] {
        for (name, verdict) in [
            ("ttas", Check::new().model(model).run(counting::<Ttas, Nothing>(2, 2))),
            ("ticket", Check::new().model(model).run(counting::<Ticket, Nothing>(2, 2))),
            ("mcs", Check::new().model(model).run(counting::<Mcs, Nothing>(2, 1))),
        ] {
            proved(&format!("{name} under {model}"), &verdict.unwrap());
        }
    }
}

/// A lock whose `locked` leaves an order out.
struct Broken<const ACQUIRES: bool>(AtomicBool);

impl<const ACQUIRES: bool> Lock for Broken<ACQUIRES> {
    fn new() -> Self {
        Broken(AtomicBool::new(false))
    }

    fn locked<P: Pause>(&self, f: impl FnOnce()) {
        while self.0.swap(true, if ACQUIRES { Acquire } else { Relaxed }) {
            P::pause();
        }
        f();
        self.0.store(false, if ACQUIRES { Relaxed } else { Release });
    }
}

#[test]
fn locks_without_an_order_race() {
    assert_eq!(violated(counting::<Broken<true>, Nothing>(2, 1)).title, "data race");
    assert_eq!(violated(counting::<Broken<false>, Nothing>(2, 1)).title, "data race");
}

/// Looks and sets in two steps.
struct NotAtomic(AtomicBool);

impl Lock for NotAtomic {
    fn new() -> Self {
        NotAtomic(AtomicBool::new(false))
    }

    fn locked<P: Pause>(&self, f: impl FnOnce()) {
        while self.0.load(SeqCst) {
            P::pause();
        }
        self.0.store(true, SeqCst);
        f();
        self.0.store(false, SeqCst);
    }
}

#[test]
fn a_lock_taken_in_two_steps_races() {
    for model in ["cpp20", "sc"] {
        let verdict = Check::new().model(model).run(counting::<NotAtomic, Nothing>(2, 1)).unwrap();
        assert_eq!(verdict.violation().map(|f| f.title.as_str()), Some("data race"), "{model}");
    }
}

// ------------------------------------------------------------ two loads, calls, fences

/// Peterson's lock for two threads: its loop has two loads.
fn peterson(order: unpick::sync::atomic::Ordering) -> impl Fn() + Send + Sync + 'static {
    struct Peterson {
        wants: [AtomicBool; 2],
        turn: AtomicUsize,
        count: UnsafeCell<usize>,
    }
    // SAFETY: what the test is about.
    unsafe impl Sync for Peterson {}
    // SAFETY: as above.
    unsafe impl Send for Peterson {}
    move || {
        let p = Arc::new(Peterson {
            wants: [AtomicBool::new(false), AtomicBool::new(false)],
            turn: AtomicUsize::new(0),
            count: UnsafeCell::new(0),
        });
        let side = move |p: &Peterson, me: usize| {
            let (store, load) = if order == SeqCst { (SeqCst, SeqCst) } else { (Release, Acquire) };
            p.wants[me].store(true, store);
            p.turn.store(1 - me, store);
            while p.wants[1 - me].load(load) && p.turn.load(load) == 1 - me {}
            p.count.with_mut(|count| unsafe { *count += 1 });
            p.wants[me].store(false, store);
        };
        let q = p.clone();
        let t = thread::spawn(move || side(&q, 1));
        side(&p, 0);
        t.join().unwrap();
        assert_eq!(p.count.with(|count| unsafe { *count }), 2);
    }
}

#[test]
fn a_loop_with_two_loads_waits() {
    proved("peterson", &run(peterson(SeqCst)));
    assert_eq!(violated(peterson(AcqRel)).title, "data race");
}

#[test]
fn a_loop_with_a_fence_or_a_local_value_waits() {
    let verdict = run(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let t = thread::spawn(move || theirs.store(3, Release));
        let mut seen;
        loop {
            seen = flag.load(Relaxed);
            fence(Acquire);
            if seen != 0 {
                break;
            }
        }
        assert_eq!(seen, 3);
        t.join().unwrap();
    });
    proved("fence", &verdict);
}

#[test]
fn a_loop_that_allocates_waits() {
    let verdict = run(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let t = thread::spawn(move || theirs.store(3, Release));
        while *Box::new(flag.load(Acquire)) == 0 {}
        t.join().unwrap();
    });
    counts(&verdict);
}

#[test]
fn three_stages_wait_for_one_another() {
    let verdict = run(|| {
        let stage = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..3)
            .map(|n| {
                let stage = stage.clone();
                thread::spawn(move || {
                    while stage.load(Acquire) != n {}
                    stage.store(n + 1, Release);
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(stage.load(Relaxed), 3);
    });
    proved("stages", &verdict);
}

// ------------------------------------------------------------ loops that only look like it

/// Outcomes of a reader that tries some times, beside a writer.
fn tries(attempt: impl Fn(&AtomicBool) -> bool + Send + Sync + 'static) -> (Vec<u64>, Verdict) {
    let (seen, verdict) = outcomes_in(&Check::new(), move || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let t = thread::spawn(move || theirs.store(true, Release));
        let got = attempt(&flag);
        t.join().unwrap();
        u64::from(got)
    });
    (seen.into_iter().collect(), verdict)
}

#[test]
fn a_loop_of_three_tries_gives_up() {
    let (seen, verdict) = tries(|flag| (0..3).any(|_| flag.load(Acquire)));
    assert_eq!(seen, [0, 1], "{verdict}");
    assert_eq!(counts(&verdict), (4, 0));
    let (seen, verdict) = tries(|flag| {
        for _ in 0..3 {
            if flag.load(Acquire) {
                return true;
            }
            hint::spin_loop();
        }
        false
    });
    assert_eq!(seen, [0, 1], "{verdict}");
    assert_eq!(counts(&verdict), (4, 0));
    let (seen, verdict) = tries(|flag| {
        let mut left = 3;
        while left > 0 && flag.compare_exchange(true, false, AcqRel, Relaxed).is_err() {
            left -= 1;
            thread::yield_now();
        }
        left > 0
    });
    assert_eq!(seen, [0, 1], "{verdict}");
    assert_eq!(counts(&verdict), (4, 0));
}

#[test]
fn a_loop_that_counts_on_the_heap_gives_up() {
    let (seen, verdict) = tries(|flag| {
        let tried = Box::new(Cell::new(0));
        while !flag.load(Acquire) {
            tried.set(tried.get() + 1);
            if tried.get() == 5 {
                return false;
            }
        }
        true
    });
    assert_eq!(seen, [0, 1], "{verdict}");
    assert_eq!(counts(&verdict), (6, 0));
}

#[test]
fn a_loop_that_counts_in_a_vector_gives_up() {
    let (seen, verdict) = tries(|flag| {
        let mut tried = Vec::with_capacity(8);
        while !flag.load(Acquire) {
            tried.push(());
            if tried.len() == 5 {
                return false;
            }
        }
        true
    });
    assert_eq!(seen, [0, 1], "{verdict}");
    let (seen, verdict) = tries(|flag| {
        let mut tried = String::with_capacity(16);
        while !flag.load(Acquire) {
            tried.push('x');
            if tried == "xxxxx" {
                return false;
            }
        }
        true
    });
    assert_eq!(seen, [0, 1], "{verdict}");
}

#[test]
fn a_loop_that_counts_in_a_cell_of_ours_gives_up() {
    let (seen, verdict) = tries(|flag| {
        let tried = Box::new(UnsafeCell::new(0));
        while !flag.load(Acquire) {
            if tried.with_mut(|n| unsafe {
                *n += 1;
                *n == 5
            }) {
                return false;
            }
        }
        true
    });
    assert_eq!(seen, [0, 1], "{verdict}");
}

#[test]
fn a_loop_whose_counter_is_in_another_atomic_gives_up() {
    let (seen, verdict) = tries(|flag| {
        let tried = AtomicUsize::new(0);
        while !flag.load(Acquire) {
            if tried.fetch_add(1, Relaxed) == 4 {
                return false;
            }
        }
        true
    });
    assert_eq!(seen, [0, 1], "{verdict}");
}

#[test]
fn a_backoff_ends_or_is_named() {
    let verdict = run(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let t = thread::spawn(move || theirs.store(true, Release));
        let mut wait = 1u32;
        while !flag.load(Acquire) {
            for _ in 0..wait {
                hint::spin_loop();
            }
            wait = wait.saturating_add(1);
        }
        t.join().unwrap();
    });
    assert!(!verdict.holds() && verdict.violation().is_none(), "{verdict}");
    assert!(
        verdict.to_string().contains("a loop was cut") && verdict.to_string().contains("locks.rs:"),
        "{verdict}"
    );
}

#[test]
fn a_backoff_with_a_ceiling_is_proved() {
    let verdict = run(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let t = thread::spawn(move || theirs.store(true, Release));
        let mut wait = 1u32;
        while !flag.load(Acquire) {
            for _ in 0..wait {
                hint::spin_loop();
            }
            wait = (wait * 2).min(64);
        }
        t.join().unwrap();
    });
    proved("ceiling", &verdict);
}

// ------------------------------------------------------------ waiting for ever

#[test]
fn a_loop_for_a_value_that_nobody_writes_is_a_livelock() {
    let finding = violated(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        thread::spawn(move || theirs.store(1, Release));
        while flag.load(Acquire) != 2 {}
    });
    assert_eq!(finding.title, "livelock");
    let finding = violated(|| {
        let taken = AtomicBool::new(true);
        while taken.swap(true, AcqRel) {}
    });
    assert_eq!(finding.title, "livelock");
}

#[test]
fn a_lock_that_is_not_given_back_is_a_livelock() {
    for rounds in 1..3 {
        let finding = violated(move || {
            let lock = Arc::new(AtomicBool::new(false));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let lock = lock.clone();
                    thread::spawn(move || {
                        for round in 0..rounds {
                            while lock.swap(true, Acquire) {}
                            if round + 1 < rounds {
                                lock.store(false, Release);
                            }
                        }
                    })
                })
                .collect();
            threads.into_iter().for_each(|t| t.join().unwrap());
        });
        assert_eq!(finding.title, "livelock");
    }
}

#[test]
fn two_threads_that_wait_for_each_other_are_a_livelock() {
    let finding = violated(|| {
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let theirs = flags.clone();
        thread::spawn(move || {
            while !theirs[0].load(Acquire) {}
            theirs[1].store(true, Release);
        });
        while !flags[1].load(Acquire) {}
        flags[0].store(true, Release);
    });
    assert_eq!(finding.title, "livelock");
}

#[test]
fn await_until_waits() {
    let verdict = run(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let t = thread::spawn(move || theirs.store(true, Release));
        let mut looked = 0;
        await_until(|| {
            looked += 1;
            flag.load(Acquire)
        });
        t.join().unwrap();
    });
    proved("await", &verdict);
    assert_eq!(verdict.stats().executions, 1);
    let finding = violated(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        thread::spawn(move || theirs.store(1, Release));
        await_until(|| flag.load(Acquire) == 2);
    });
    assert_eq!(finding.title, "livelock");
}

#[test]
fn await_until_with_two_loads_waits() {
    let verdict = run(|| {
        let flags = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let threads: Vec<_> = (0..2)
            .map(|n| {
                let flags = flags.clone();
                thread::spawn(move || flags[n].store(1, Release))
            })
            .collect();
        await_until(|| flags[0].load(Acquire) + flags[1].load(Acquire) == 2);
        threads.into_iter().for_each(|t| t.join().unwrap());
    });
    proved("await two", &verdict);
}

/// 100 honest rounds, and a bug after them. Cut at 24 rounds, this is no proof.
#[test]
fn a_cut_loop_is_no_proof() {
    let verdict = run(|| {
        let x = AtomicUsize::new(0);
        for _ in 0..100 {
            x.load(Relaxed);
        }
        panic!("after the loop");
    });
    assert!(!verdict.holds(), "{verdict}");
}

/// The choice goes another way sooner or later.
#[test]
fn a_loop_that_ends_by_a_choice_is_no_livelock() {
    let verdict = Check::new().max_events(100).run(|| {
        let x = AtomicUsize::new(0);
        while choose(2) == 0 {
            x.load(Relaxed);
        }
    });
    let verdict = verdict.unwrap();
    assert!(verdict.violation().is_none(), "{verdict}");
}
