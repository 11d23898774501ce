//! A wake-up that comes before the sleep.
//!
//! Models the pattern of E. Farchi, Y. Nir and S. Ur, "Concurrent bug patterns and how to test them"
//! (IPDPS 2003): the lost notify.
//!
//! Bug: the flag is looked at without the lock, and it is raised without the lock. If it is raised, and the
//! waiter is notified, between the look and the wait, nobody wakes the waiter. Fix: look under the lock,
//! and raise under the lock.
//!
//! Shows under SC, with 2 threads and 1 preemption.

use unpick::sync::atomic::AtomicBool;
use unpick::sync::atomic::Ordering::SeqCst;
use unpick::sync::{Condvar, Mutex};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The waiter and the other.
pub(crate) const BUG: Bug = Bug {
    name: "lost_wakeup",
    after: "Farchi, Nir and Ur 2003",
    bug: "the flag is looked at outside the lock",
    memory: Memory::Sc,
    threads: 2,
    preemptions: Some(1),
    violation: "deadlock",
    program,
    settings: defaults,
    found_within: Some(10),
    exhaustible: true,
};

fn program(variant: Variant) {
    let ready = AtomicBool::new(false);
    let (lock, wake) = (Mutex::new(()), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let _guard = variant.is_fixed().then(|| lock.lock().unwrap());
            ready.store(true, SeqCst);
            wake.notify_one();
        });
        if variant.is_fixed() {
            let mut guard = lock.lock().unwrap();
            while !ready.load(SeqCst) {
                guard = wake.wait(guard).unwrap();
            }
        } else {
            while !ready.load(SeqCst) {
                drop(wake.wait(lock.lock().unwrap()).unwrap());
            }
        }
    });
}
