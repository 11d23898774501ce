//! `#[unpick::test]` and its settings.

use std::sync::Arc;

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::{Check, thread};

use crate::support::*;

#[unpick::test]
fn a_test_without_settings() {
    let x = Arc::new(AtomicUsize::new(0));
    let y = x.clone();
    let t = thread::spawn(move || y.fetch_add(1, Relaxed));
    x.fetch_add(1, Relaxed);
    t.join().unwrap();
    assert_eq!(x.load(Relaxed), 2);
}

/// Store buffering, which sequential consistency forbids.
#[unpick::test(model = "sc", time = "1m", executions = 1_000, keep_going = true, hang = 10)]
pub(crate) fn a_test_with_settings() {
    let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (x2, y2) = (x.clone(), y.clone());
    let t = thread::spawn(move || {
        x2.store(1, Relaxed);
        y2.load(Relaxed)
    });
    y.store(1, Relaxed);
    let seen = x.load(Relaxed);
    assert_ne!((seen, t.join().unwrap()), (0, 0));
}

#[unpick::test(executions = 2, inconclusive = "pass")]
fn a_test_that_proves_nothing_may_pass() {
    assert!(unpick::choose(3) < 2, "the third execution is not reached");
}

#[unpick::test(loops = false, rounds = 3, inconclusive = "pass")]
fn a_test_whose_loops_are_cut() {
    let flag = Arc::new(AtomicUsize::new(0));
    let theirs = flag.clone();
    thread::spawn(move || while theirs.load(Relaxed) == 0 {});
}

#[unpick::test(
    detached = "abandoned",
    spurious = true,
    events = 100,
    rounds = 50,
    stack_size = 131_072,
    vacuous = true
)]
fn a_test_that_leaves_a_thread_behind() {
    thread::spawn(|| unpick::await_until(|| false));
}

#[unpick::test]
fn a_test_with_a_result() -> Result<(), std::num::ParseIntError> {
    let number: u32 = "12".parse()?;
    assert_eq!(number, 12);
    if number == 13 {
        return Ok(());
    }
    Ok(())
}

#[unpick::test]
async fn a_test_that_is_async() {
    assert_eq!(std::future::ready(3).await, 3);
}

#[unpick::test(progress = false)]
async fn a_test_that_is_async_with_a_result() -> Result<(), String> {
    std::future::ready(Err::<(), _>("no")).await.or(Ok::<(), &str>(()))?;
    Ok(())
}

mod elsewhere {
    pub(crate) use ::unpick as checks;
}

#[unpick::test(crate = "crate::settings_macro::elsewhere::checks")]
#[allow(unused_mut, reason = "attributes are kept")]
fn a_test_that_names_the_crate() {
    let mut n = 0;
    assert_eq!(n, unpick::choose(1));
}

/// Tests that fail, when they run in a process of their own.
mod failing {
    use crate::support::is_child;

    #[unpick::test]
    fn with_an_error() -> Result<(), String> {
        if is_child() { Err(format!("number {}", unpick::choose(1))) } else { Ok(()) }
    }

    #[unpick::test(keep_going = 2)]
    fn in_two_ways() {
        match unpick::choose(3) {
            n @ 1 if is_child() => panic!("the first: {n}"),
            n @ 2 if is_child() => panic!("the second: {n}"),
            _ => {}
        }
    }

    #[unpick::test(executions = 1)]
    fn without_a_proof() {
        unpick::choose(if is_child() { 2 } else { 1 });
    }
}

#[test]
fn failing_tests_say_why() {
    let text = |name: &str, variables: &[(&str, &str)]| {
        let output = child(&format!("settings_macro::failing::{name}"), variables);
        assert_eq!(output.status.code(), Some(101), "{}", text_of(&output));
        text_of(&output)
    };
    let error = text("with_an_error", &[]);
    assert!(error.contains("the test returned an error: \"number 0\""), "{error}");
    let two = text("in_two_ways", &[]);
    assert!(two.contains("unpick found 2 violations"), "{two}");
    assert!(two.contains("settings_macro.rs"), "{two}");
    // The environment has the last word.
    let one = text("in_two_ways", &[("UNPICK_KEEP_GOING", "1")]);
    assert!(one.contains("unpick found a violation"), "{one}");
    let nothing = text("without_a_proof", &[]);
    assert!(nothing.contains("the limit on executions was reached"), "{nothing}");
    let wrong = text("without_a_proof", &[("UNPICK_MODEL", "arm")]);
    assert!(wrong.contains("there is no memory model `arm`"), "{wrong}");
}

#[test]
fn check_has_the_methods_of_the_table() {
    let source = include_str!("../../src/api.rs");
    for setting in unpick_check::SETTINGS.iter().filter(|setting| !setting.method.is_empty()) {
        assert!(source.contains(&format!("pub fn {}(mut self, ", setting.method)), "{}", setting.method);
    }
}

#[test]
fn settings_can_be_given_by_name() {
    let check = Check::new().with(|name| (name == "UNPICK_MODEL").then(|| String::from("sc"))).unwrap();
    assert_eq!(check.run(|| {}).unwrap().summary().model, "sc");
    let wrong = Check::new().with(|name| (name == "UNPICK_TIME").then(|| String::from("soon")));
    assert!(wrong.is_err());
}
