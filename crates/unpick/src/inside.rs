//! What a program says to the check that it runs in. Outside of checks these calls do as little as can be.

use unpick_runtime::ops;

use crate::here;

/// Discards executions in which the condition is false.
///
/// Outside a check it does nothing.
#[track_caller]
#[inline]
pub fn assume(condition: bool) {
    if !condition && ops::in_check() {
        ops::discard(here!());
    }
}

/// Waits until a condition holds: for loops that unpick cannot recognise by themselves, because
/// they keep a counter, or whose condition is costly.
///
/// The condition must only read. A thread whose condition is false on the newest values when
/// nothing else can happen is a violation. Outside a check this is a loop.
///
/// ```
/// use std::sync::Arc;
/// use unpick::sync::atomic::{AtomicBool, Ordering};
/// use unpick::{await_until, thread};
///
/// unpick::check(|| {
///     let ready = Arc::new(AtomicBool::new(false));
///     let theirs = Arc::clone(&ready);
///     thread::spawn(move || theirs.store(true, Ordering::Release));
///     await_until(|| ready.load(Ordering::Acquire));
/// });
/// ```
#[track_caller]
pub fn await_until(mut condition: impl FnMut() -> bool) {
    if ops::in_check() {
        let site = here!();
        let mut from = ops::position();
        while !condition() {
            ops::wait_for_change(from, site);
            from = ops::position();
        }
    } else {
        while !condition() {
            std::thread::yield_now();
        }
    }
}

/// A number below `bound`, chosen in every possible way. Outside a check it is 0.
///
/// # Panics
///
/// When `bound` is 0.
#[track_caller]
pub fn choose(bound: usize) -> usize {
    assert!(bound > 0, "there is no number below 0 to choose");
    if ops::in_check() { ops::choose(bound as u64, here!()) as usize } else { 0 }
}

/// Adds a remark to the report of a failing execution, at the place where the thread stands.
#[track_caller]
pub fn label(text: impl std::fmt::Display) {
    ops::label(&|| text.to_string(), here!());
}

/// Runs a closure whose allocations outlive the execution.
///
/// Memory that the checked closure allocates belongs to one execution, and the next one takes it
/// over. What is to be kept, such as outcomes collected in a set that was captured, is put there
/// inside this call. Outside a check it just runs the closure.
///
/// ```
/// use std::collections::BTreeSet;
/// use std::sync::{Arc, Mutex};
///
/// let seen = Arc::new(Mutex::new(BTreeSet::new()));
/// let theirs = Arc::clone(&seen);
/// unpick::check(move || {
///     let number = unpick::choose(3);
///     unpick::outside(|| theirs.lock().unwrap().insert(number));
/// });
/// assert_eq!(seen.lock().unwrap().len(), 3);
/// ```
pub fn outside<R>(f: impl FnOnce() -> R) -> R {
    ops::outside(f)
}
