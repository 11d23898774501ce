//! Two readers who both want to become the writer.
//!
//! Models a lock for readers and writers with an upgrade, as in the documentation of many libraries
//! that warn of it (Boost's `upgrade_lock` exists for this reason).
//!
//! Bug: a reader who upgrades waits until he is the only reader, and keeps his own place meanwhile. Two of
//! them wait for each other. Fix: only one may upgrade; the other gives up his place and starts anew.
//!
//! Shows under SC, with 2 threads and 1 preemption.

use unpick::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use unpick::sync::atomic::{AtomicBool, AtomicUsize};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};
use crate::plain::Plain;

/// The lock.
pub(crate) const BUG: Bug = Bug {
    name: "upgrade_lock",
    after: "textbooks; the documentation of Boost.Thread",
    bug: "two readers upgrade, and wait for each other",
    memory: Memory::Sc,
    threads: 2,
    preemptions: Some(1),
    violation: "livelock",
    program,
    settings: defaults,
    found_within: Some(100),
    exhaustible: true,
};

/// The state while there is a writer; otherwise it is the number of readers.
const WRITER: usize = usize::MAX;

struct Lock {
    state: AtomicUsize,
    upgrading: AtomicBool,
    variant: Variant,
}

impl Lock {
    fn read(&self) {
        loop {
            let readers = self.state.load(Relaxed);
            let entered = readers != WRITER
                && self.state.compare_exchange(readers, readers + 1, Acquire, Relaxed).is_ok();
            if entered {
                return;
            }
        }
    }

    /// Becomes the writer; or gives the lock back, waits for the other who upgrades, and says no.
    fn upgrade(&self) -> bool {
        if self.variant.is_fixed() && self.upgrading.swap(true, Acquire) {
            self.state.fetch_sub(1, Release);
            while self.upgrading.load(Acquire) {}
            return false;
        }
        while self.state.compare_exchange(1, WRITER, AcqRel, Relaxed).is_err() {}
        self.upgrading.store(false, Release);
        true
    }
}

fn program(variant: Variant) {
    let lock = Lock { state: AtomicUsize::new(0), upgrading: AtomicBool::new(false), variant };
    let value = Plain::new(0);
    let work = || {
        loop {
            lock.read();
            let before = value.get();
            if lock.upgrade() {
                value.set(before + 1);
                lock.state.store(0, Release);
                return;
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    assert_eq!(value.get(), 2);
}
