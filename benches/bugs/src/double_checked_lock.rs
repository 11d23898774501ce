//! Double-checked locking with a flag that publishes nothing.
//!
//! Models the pattern of D. Schmidt and T. Harrison (PLoP 1996), after D. Bacon and others, "The
//! double-checked locking is broken declaration" (2000).
//!
//! Bug: the flag is stored and loaded with `Relaxed`; who sees it without the lock does not see what was
//! initialised. Fix: `Release` and `Acquire`.
//!
//! Needs weak memory, with 3 threads (2 take part).

use unpick::sync::Mutex;
use unpick::sync::atomic::AtomicBool;
use unpick::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::plain::Plain;

/// The pattern.
pub(crate) const BUG: Bug = Bug {
    name: "double_checked_lock",
    after: "Bacon and others 2000",
    bug: "the flag is stored and loaded with `Relaxed`",
    memory: Memory::Weak,
    threads: 3,
    preemptions: None,
    violation: "data race",
    program,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

fn program(variant: Variant) {
    let (load, store) = if variant.is_fixed() { (Acquire, Release) } else { (Relaxed, Relaxed) };
    let ready = AtomicBool::new(false);
    let lock = Mutex::new(());
    let value = Plain::new(0);
    let get = || {
        if !ready.load(load) {
            let _guard = lock.lock().unwrap();
            if !ready.load(Relaxed) {
                value.set(7);
                ready.store(true, store);
            }
        }
        value.get()
    };
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(get(), 7));
        scope.spawn(|| assert_eq!(get(), 7));
        assert_eq!(get(), 7);
    });
}
