//! Strategies that draw executions at random, on real code.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering as Real};

use unpick::sync::Mutex;
use unpick::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use unpick::{Check, Error, Reason, Verdict, thread};

const SAMPLERS: [&str; 8] = ["random", "urw", "surw", "pct", "pct:3", "pos", "greybox", "digest"];

/// A flag that is published without release: only weak memory shows the bug.
fn unordered_message() {
    let shared = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
    let theirs = Arc::clone(&shared);
    let writer = thread::spawn(move || {
        theirs.0.store(42, Ordering::Relaxed);
        theirs.1.store(true, Ordering::Relaxed);
    });
    if shared.1.load(Ordering::Acquire) {
        assert_eq!(shared.0.load(Ordering::Relaxed), 42);
    }
    writer.join().unwrap();
}

#[test]
fn every_sampler_finds_a_bug_of_weak_memory_and_its_token_replays() {
    for name in SAMPLERS {
        let check = Check::new().strategy(name).seed(5).max_executions(10_000);
        let verdict = check.run(unordered_message).unwrap();
        let finding = verdict.violation().unwrap_or_else(|| panic!("{name}: {verdict}"));
        assert_eq!(finding.strategy, format!("{name} with seed 5"));
        assert!(verdict.to_string().contains("with seed 5"), "{verdict}");
        let token = finding.token.clone();
        let replay = |variable: &str| (variable == "UNPICK_REPLAY").then(|| token.clone());
        let again = Check::new().with(replay).unwrap().run(unordered_message).unwrap();
        assert_eq!(again.violation().map(|finding| finding.title.as_str()), Some("panic"), "{name}");
    }
}

#[test]
fn interleavings_do_not_show_a_bug_of_weak_memory() {
    for name in SAMPLERS {
        let check = Check::new().strategy(name).model("sc").max_executions(2_000);
        let verdict = check.run(unordered_message).unwrap();
        let Verdict::Inconclusive(Reason::Sampled(2_000), summary) = &verdict else {
            panic!("{name}: {verdict}")
        };
        assert_eq!((summary.seed, summary.strategy.as_str()), (Some(0), name));
        assert!(summary.pairs.is_some_and(|(pairs, _)| pairs > 0));
    }
}

#[test]
fn the_same_seed_gives_the_same_executions() {
    let outcomes = |name: &str, seed: u64| {
        let hash = Arc::new(AtomicU64::new(0));
        let theirs = Arc::clone(&hash);
        let verdict = Check::new().strategy(name).seed(seed).max_executions(300).run(move || {
            let x = Arc::new(AtomicUsize::new(0));
            let other = Arc::clone(&x);
            let handle = thread::spawn(move || other.fetch_add(1, Ordering::Relaxed));
            let (seen, more) = (x.load(Ordering::Relaxed), x.load(Ordering::Relaxed));
            handle.join().unwrap();
            let old = theirs.load(Real::Relaxed);
            theirs.store(old.wrapping_mul(31).wrapping_add((seen * 2 + more) as u64), Real::Relaxed);
        });
        verdict.unwrap();
        hash.load(Real::Relaxed)
    };
    for name in SAMPLERS {
        assert_eq!(outcomes(name, 1), outcomes(name, 1), "{name}");
        assert_ne!(outcomes(name, 1), outcomes(name, 2), "{name}");
    }
}

/// Test and test-and-set: spins on a swap and on a load.
fn with_ttas_lock() {
    let shared = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
    let work = |shared: &(AtomicBool, AtomicUsize)| {
        for _ in 0..2 {
            while shared.0.swap(true, Ordering::Acquire) {
                while shared.0.load(Ordering::Relaxed) {}
            }
            let count = shared.1.load(Ordering::Relaxed);
            shared.1.store(count + 1, Ordering::Relaxed);
            shared.0.store(false, Ordering::Release);
        }
    };
    let handles = [(); 2].map(|()| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || work(&shared))
    });
    handles.into_iter().for_each(|handle| handle.join().unwrap());
    assert_eq!(shared.1.load(Ordering::Relaxed), 4);
}

/// Tickets, with a counter in the loop that no state repeats with.
fn with_ticket_lock() {
    let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)));
    let work = |(next, serving, count): &(AtomicUsize, AtomicUsize, AtomicUsize)| {
        let ticket = next.fetch_add(1, Ordering::Relaxed);
        let mut rounds = 0;
        while serving.load(Ordering::Acquire) != ticket {
            rounds += 1;
            std::hint::black_box(&mut rounds);
        }
        let old = count.load(Ordering::Relaxed);
        count.store(old + 1, Ordering::Relaxed);
        serving.store(ticket + 1, Ordering::Release);
    };
    let handles = [(); 3].map(|()| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || work(&shared))
    });
    handles.into_iter().for_each(|handle| handle.join().unwrap());
    assert_eq!(shared.2.load(Ordering::Relaxed), 3);
}

#[test]
fn spin_locks_run_to_their_end() {
    for name in SAMPLERS {
        for program in [with_ttas_lock, with_ticket_lock] {
            let verdict = Check::new().strategy(name).max_executions(100).run(program).unwrap();
            assert!(matches!(verdict, Verdict::Inconclusive(Reason::Sampled(100), _)), "{name}: {verdict}");
            assert_eq!(verdict.stats().blocked, 0, "{name}: {verdict}");
        }
    }
}

#[test]
fn deadlocks_are_found() {
    for name in SAMPLERS {
        let verdict = Check::new().strategy(name).max_executions(1_000).run(|| {
            let locks = Arc::new((Mutex::new(()), Mutex::new(())));
            let theirs = Arc::clone(&locks);
            let handle = thread::spawn(move || {
                let _b = theirs.1.lock().unwrap();
                let _a = theirs.0.lock().unwrap();
            });
            {
                let _a = locks.0.lock().unwrap();
                let _b = locks.1.lock().unwrap();
            }
            handle.join().unwrap();
        });
        let verdict = verdict.unwrap();
        assert_eq!(
            verdict.violation().map(|finding| finding.title.as_str()),
            Some("deadlock"),
            "{name}: {verdict}"
        );
    }
}

#[test]
fn names_that_are_not_understood_are_errors() {
    for name in ["chance", "random:3", "pct:0", "pct:deep", "pct:"] {
        let error = Check::new().strategy(name).run(|| {}).expect_err(name);
        assert!(matches!(&error, Error::Setting { name, .. } if name == "strategy"), "{error}");
    }
}

/// Messages that are passed in the right way, so often that the graph lets go of older ones; the last one is
/// not.
fn long_messages(rounds: usize) {
    let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let theirs = Arc::clone(&shared);
    let writer = thread::spawn(move || {
        for round in 1..=rounds {
            theirs.0.store(round, Ordering::Relaxed);
            theirs.1.store(round, Ordering::Release);
        }
        theirs.1.store(rounds + 1, Ordering::Relaxed);
    });
    let mut last = 0;
    while last < rounds {
        let seen = shared.1.load(Ordering::Acquire);
        assert!(seen >= last, "coherence");
        last = seen;
        let message = shared.0.load(Ordering::Relaxed);
        assert!(seen <= rounds, "the end was seen");
        assert!(message >= seen, "message {message} of round {seen}");
    }
    writer.join().unwrap();
}

#[test]
fn long_executions_stay_sound_and_replay() {
    let program = || long_messages(15_000);
    for seed in 3..7 {
        let verdict = Check::new().strategy("random").seed(seed).max_executions(50).run(program).unwrap();
        let finding = verdict.violation().unwrap_or_else(|| panic!("{verdict}"));
        let message = finding.message.join(" ");
        assert!(message.contains("the end was seen"), "{message}");
        let token = finding.token.clone();
        let replay = |variable: &str| (variable == "UNPICK_REPLAY").then(|| token.clone());
        let again = Check::new().with(replay).unwrap().run(program).unwrap();
        let again = again.violation().map(|finding| finding.message.join(" ")).unwrap_or_default();
        assert!(again.contains("the end was seen"), "{again}");
    }
}
