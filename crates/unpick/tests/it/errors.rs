//! Checks that cannot be carried out, and those that prove nothing.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize as StdAtomicUsize;
use std::time::Duration;

use unpick::sync::Mutex;
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::{Check, Error, OnInconclusive, Reason, Verdict, choose, thread};

use crate::support::*;

/// Runs a program that must give an error.
#[track_caller]
fn error(check: &Check, program: impl Fn() + Send + Sync + 'static) -> Error {
    match check.run(program) {
        Err(error) => error,
        Ok(verdict) => panic!("no error, but {verdict}"),
    }
}

#[test]
fn a_program_that_is_not_deterministic() {
    let runs = StdAtomicUsize::new(0);
    let error = error(&Check::new(), move || {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.store(1, Relaxed));
        if runs.fetch_add(1, Relaxed).is_multiple_of(2) {
            x.load(Relaxed);
        } else {
            x.store(2, Relaxed);
        }
        x.load(Relaxed);
        t.join().unwrap();
    });
    let Error::Diverged { thread, before, now } = &error else { panic!("{error}") };
    assert_eq!(thread, "main");
    let sites = [before, now].map(|side| side.contains("errors.rs:"));
    assert_eq!(sites, [true, true], "{error}");
    assert!(before.contains("load") != now.contains("load") && before != now, "{error}");
    assert!(error.to_string().contains("not deterministic"), "{error}");
}

#[test]
fn a_thread_that_once_did_less_is_not_deterministic() {
    let runs = StdAtomicUsize::new(0);
    let error = error(&Check::new(), move || {
        let x = Arc::new(AtomicUsize::new(0));
        let (y, skip) = (x.clone(), runs.fetch_add(1, Relaxed) > 2);
        let t = thread::spawn(move || {
            y.store(1, Relaxed);
            if !skip {
                y.store(2, Relaxed);
            }
        });
        choose(4);
        x.load(Relaxed);
        t.join().unwrap();
    });
    assert!(matches!(error, Error::Diverged { .. }), "{error}");
}

#[test]
fn a_value_that_changes_is_not_deterministic() {
    let runs = StdAtomicUsize::new(0);
    let error = error(&Check::new(), move || {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        x.store(runs.fetch_add(1, Relaxed), Relaxed);
        let t = thread::spawn(move || y.load(Relaxed));
        x.store(0, Relaxed);
        t.join().unwrap();
    });
    let Error::Diverged { before, now, .. } = &error else { panic!("{error}") };
    // The first run is the one that warms up.
    assert!(before.starts_with("store(1, Relaxed) at crates/unpick/tests/it/errors.rs:"), "{error}");
    assert!(now.starts_with("store(2, Relaxed) at crates/unpick/tests/it/errors.rs:"), "{error}");
}

/// Both sides of a divergence, without their places.
#[track_caller]
fn sides(program: impl Fn(usize) + Send + Sync + 'static) -> [String; 2] {
    let runs = StdAtomicUsize::new(0);
    let error = error(&Check::new(), move || {
        program(runs.fetch_add(1, Relaxed));
        choose(2);
    });
    let Error::Diverged { before, now, .. } = error else { panic!("{error}") };
    [before, now].map(|side| side.split_once(" at ").map_or(side.clone(), |(what, _)| what.to_string()))
}

#[test]
fn what_changed_is_told() {
    use unpick::sync::atomic::{AtomicBool, AtomicI8, fence};
    let told = [
        sides(|n| {
            let _ = AtomicUsize::new(0).compare_exchange(n + 6, 5, AcqRel, Relaxed);
        }),
        sides(|n| {
            AtomicI8::new(0).fetch_max(-(n as i8), Relaxed);
        }),
        sides(|n| AtomicBool::new(false).store(n == 1, SeqCst)),
        sides(|n| {
            AtomicUsize::new(0).load(if n == 1 { Relaxed } else { Acquire });
        }),
        sides(|n| fence(if n == 1 { Release } else { SeqCst })),
        sides(|n| {
            let pair = [AtomicUsize::new(0), AtomicUsize::new(0)];
            pair[0].load(Relaxed);
            pair[1].load(Relaxed);
            pair[n % 2].load(Relaxed);
        }),
        sides(|n| {
            let (first, second) = (thread::spawn(|| ()), thread::spawn(|| ()));
            if n == 1 { second.join().unwrap() } else { first.join().unwrap() }
        }),
    ];
    let expected = [
        ["compare_exchange(7, 5, AcqRel)", "compare_exchange(8, 5, AcqRel)"],
        ["fetch_max(-1, Relaxed)", "fetch_max(-2, Relaxed)"],
        ["store(true, SeqCst)", "store(false, SeqCst)"],
        ["load(Relaxed)", "load(Acquire)"],
        ["fence(Release)", "fence(SeqCst)"],
        ["load(Relaxed)", "load(Relaxed) of another object"],
        ["join T2", "join T1"],
    ];
    assert_eq!(told, expected);
}

#[test]
fn an_object_from_outside() {
    let x = Arc::new(AtomicUsize::new(0));
    let error = error(&Check::new(), move || {
        choose(3);
        x.fetch_add(1, Relaxed);
    });
    let Error::Outside { object, site } = &error else { panic!("{error}") };
    assert!(object.contains("AtomicUsize") && site.contains("errors.rs:"), "{error}");
    assert!(error.to_string().contains("inside the closure"), "{error}");
}

#[test]
fn a_lock_that_is_not_ours() {
    let check = Check::new().hang_limit(Duration::from_secs(2));
    let error = error(&check, || {
        let real = Arc::new(std::sync::Mutex::new(0));
        let x = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (real, x) = (real.clone(), x.clone());
                thread::spawn(move || {
                    let _guard = real.lock().unwrap();
                    x.fetch_add(1, Relaxed);
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
    });
    let Error::Hang { thread, .. } = &error else { panic!("{error}") };
    assert!(["T1", "T2"].contains(&thread.as_str()), "{error}");
    // Other checks go on.
    holds(|| {});
}

#[test]
fn a_model_that_does_not_exist() {
    let error = error(&Check::new().model("power"), || {});
    assert!(matches!(error, Error::Setting { .. }), "{error}");
    for name in ["power", "cpp20", "rc11", "sc", "tso", "ra"] {
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_check_inside_a_check() {
    let inner = Arc::new(std::sync::Mutex::new(None));
    let theirs = inner.clone();
    holds(move || *theirs.lock().unwrap() = Some(Check::new().run(|| {}).is_err()));
    assert_eq!(*inner.lock().unwrap(), Some(true));
    let finding = violated(|| unpick::check(|| {}));
    assert!(told(&finding).contains("inside another"), "{}", told(&finding));
}

// ------------------------------------------------------------ tokens

/// Runs a small program in a process that has a token to replay.
fn replayed(test: &str, token: &str) -> String {
    let output = child(test, &[("UNPICK_REPLAY", token)]);
    assert_eq!(output.status.code(), Some(101), "{}", text_of(&output));
    text_of(&output)
}

fn two_readers() {
    let x = Arc::new(AtomicUsize::new(0));
    let y = x.clone();
    let t = thread::spawn(move || y.store(1, Relaxed));
    assert_eq!(x.load(Relaxed), 0);
    t.join().unwrap();
}

#[test]
fn tokens_that_cannot_be_replayed() {
    if is_child() {
        Check::new().check(two_readers);
        return;
    }
    let name = test_name!(tokens_that_cannot_be_replayed);
    let good = violated(two_readers).token;
    assert!(replayed(&name, &good).contains("error: panic"));
    let cut = &good[..good.len() - 3];
    let mut longer = good.clone();
    longer.push_str("AAAA");
    for (token, reason) in [
        (cut, "cannot be replayed"),
        (longer.as_str(), "cannot be replayed"),
        ("u1", "damaged"),
        ("u9AAAA", "another version"),
        ("nonsense", "cannot be replayed"),
        ("u1%%%%", "damaged"),
        ("no/such/file", "cannot be read"),
    ] {
        let text = replayed(&name, token);
        assert!(text.contains(reason), "{token}: {text}");
    }
    let another = violated(|| {
        let m = unpick::sync::Mutex::new(0);
        drop(m.lock());
        choose(2);
        panic!("another");
    });
    let text = replayed(&name, &another.token);
    assert!(text.contains("cannot be replayed") && text.contains("another program"), "{text}");
}

#[test]
fn every_damaged_token_is_refused_or_replayed_without_harm() {
    if is_child() {
        let tokens = std::env::var("CHECKED_IT_TOKENS").unwrap();
        for token in tokens.split_whitespace() {
            // SAFETY: the only test of this process, and no other thread reads the environment.
            unsafe { std::env::set_var("UNPICK_REPLAY", token) };
            match Check::new().run(two_readers) {
                Err(Error::Token { .. } | Error::Diverged { .. }) => {}
                Ok(Verdict::Violated(_)) => {}
                other => panic!("{token}: {other:?}"),
            }
        }
        return;
    }
    let good = violated(two_readers).token;
    let mut tokens = Vec::new();
    for at in 2..good.len() {
        for other in ['A', 'B', 'Q', 'z', '9', '-', '_'] {
            let mut bytes = good.clone().into_bytes();
            bytes[at] = other as u8;
            tokens.push(String::from_utf8(bytes).unwrap());
        }
    }
    let name = test_name!(every_damaged_token_is_refused_or_replayed_without_harm);
    let output = child(&name, &[("CHECKED_IT_TOKENS", &tokens.join(" "))]);
    assert!(output.status.success(), "{}", text_of(&output));
}

// ------------------------------------------------------------ stacks

#[inline(never)]
pub(crate) fn recurse(depth: usize) -> usize {
    let room = std::hint::black_box([depth; 64]);
    if depth == 0 { 0 } else { recurse(depth - 1) + room[depth % 64] }
}

#[test]
fn a_larger_stack_holds_more() {
    let check = Check::new().allow_vacuous(true).stack_size(16 << 20);
    let verdict = check.run(|| {
        let t = thread::spawn(|| recurse(10_000));
        assert!(t.join().unwrap() > 0);
    });
    counts(&verdict.unwrap());
}

// ------------------------------------------------------------ limits

fn many() {
    let x = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..6)
        .map(|_| {
            let x = x.clone();
            thread::spawn(move || x.fetch_add(1, Relaxed) + x.fetch_add(1, Relaxed))
        })
        .collect();
    threads.into_iter().for_each(|t| assert!(t.join().is_ok()));
}

#[test]
fn the_limit_on_executions() {
    let verdict = Check::new().max_executions(100).run(many).unwrap();
    assert!(matches!(verdict, Verdict::Inconclusive(Reason::Executions, _)), "{verdict}");
    assert_eq!(verdict.stats().executions, 100);
    assert!(verdict.to_string().contains("limit on executions"), "{verdict}");
    // As many as there are is enough.
    let verdict = Check::new().max_executions(3).run(|| assert!(choose(3) < 3)).unwrap();
    assert!(verdict.holds(), "{verdict}");
}

#[test]
fn the_limit_on_time() {
    let verdict = Check::new().time_limit(Duration::from_millis(300)).run(many).unwrap();
    assert!(matches!(verdict, Verdict::Inconclusive(Reason::Time, _)), "{verdict}");
}

#[test]
fn the_limit_on_events() {
    let verdict = Check::new().max_events(30).run(|| {
        let x = AtomicUsize::new(0);
        loop {
            x.fetch_add(1, Relaxed);
        }
    });
    let verdict = verdict.unwrap();
    let Verdict::Inconclusive(Reason::Events(place), _) = &verdict else { panic!("{verdict}") };
    assert!(place.contains("errors.rs:"), "{verdict}");
    let verdict = Check::new().max_events(30).run(|| {
        let x = AtomicUsize::new(0);
        (0..20).for_each(|n| assert_eq!(x.fetch_add(1, Relaxed), n));
    });
    assert!(verdict.unwrap().holds());
}

#[test]
fn a_violation_before_a_limit_is_told() {
    let verdict = Check::new().max_events(30).run(|| {
        if choose(2) == 1 {
            panic!("found");
        }
        let x = AtomicUsize::new(0);
        loop {
            x.fetch_add(1, Relaxed);
        }
    });
    assert!(verdict.unwrap().violation().is_some());
}

#[test]
fn without_a_proof_a_test_fails_unless_it_may_pass() {
    let check = Check::new().max_executions(10);
    let failed = std::panic::catch_unwind(|| check.check(many)).unwrap_err();
    let message = failed.downcast_ref::<String>().unwrap();
    assert!(message.contains("proved nothing") && message.contains("UNPICK_INCONCLUSIVE"), "{message}");
    check.clone().on_inconclusive(OnInconclusive::Pass).check(many);
}

#[test]
fn the_environment_has_the_last_word() {
    if is_child() {
        let verdict = Check::new().model("tso").max_executions(1 << 40).run(many).unwrap();
        assert!(matches!(verdict, Verdict::Inconclusive(Reason::Executions, _)), "{verdict}");
        assert_eq!(verdict.stats().executions, 5);
        assert_eq!(verdict.summary().model, "sc");
        Check::new().check(many);
        return;
    }
    let name = test_name!(the_environment_has_the_last_word);
    let settings = [("UNPICK_MODEL", "sc"), ("UNPICK_MAX_EXECUTIONS", "5"), ("UNPICK_INCONCLUSIVE", "pass")];
    let output = child(&name, &settings);
    assert!(output.status.success(), "{}", text_of(&output));
    let output = child(&name, &[("UNPICK_MODEL", "nonsense")]);
    assert!(text_of(&output).contains("nonsense"), "{}", text_of(&output));
}

#[test]
fn a_mutex_from_outside() {
    let x = Arc::new(Mutex::new(0));
    let error = Check::new().run(move || {
        choose(2);
        *x.lock().unwrap() += 1;
    });
    assert!(matches!(error, Err(Error::Outside { .. })), "{error:?}");
}

#[test]
fn an_object_from_outside_in_a_program_with_one_execution() {
    let x = Arc::new(AtomicUsize::new(0));
    let error = Check::new().run(move || {
        x.fetch_add(1, Relaxed);
    });
    assert!(matches!(error, Err(Error::Outside { .. })), "{error:?}");
}
