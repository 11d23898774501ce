//! A bounded buffer with one condition for everybody.
//!
//! Models the bounded buffer that is among the programs of O. Saarikivi, K. Kähkönen and K. Heljanko,
//! "Improving dynamic partial order reductions for concolic testing" (ACSD 2012), with the classic bug
//! of such buffers.
//!
//! Bug: producers and consumers wait for the same condition, and one waiter is woken. A consumer may wake
//! the other consumer where the producer should go on. Fix: wake all.
//!
//! Shows under SC, with 3 threads and 1 preemption, which lets both consumers wait; then it depends on who
//! is woken.

use unpick::sync::{Condvar, Mutex};
use unpick::thread;

use crate::bug::{Bug, Memory, Variant, defaults};

/// The buffer.
pub(crate) const BUG: Bug = Bug {
    name: "bounded_buffer",
    after: "Saarikivi and others 2012; textbooks",
    bug: "one condition for producers and consumers, and `notify_one`",
    memory: Memory::Sc,
    threads: 3,
    preemptions: Some(1),
    violation: "deadlock",
    program,
    settings: defaults,
    found_within: Some(100),
    exhaustible: true,
};

/// A buffer for one value.
struct Buffer {
    value: Mutex<Option<usize>>,
    changed: Condvar,
    variant: Variant,
}

impl Buffer {
    fn notify(&self) {
        if self.variant.is_fixed() {
            self.changed.notify_all();
        } else {
            self.changed.notify_one();
        }
    }

    fn put(&self, value: usize) {
        let mut guard = self.value.lock().unwrap();
        while guard.is_some() {
            guard = self.changed.wait(guard).unwrap();
        }
        *guard = Some(value);
        self.notify();
    }

    fn take(&self) -> usize {
        let mut guard = self.value.lock().unwrap();
        loop {
            if let Some(value) = guard.take() {
                self.notify();
                return value;
            }
            guard = self.changed.wait(guard).unwrap();
        }
    }
}

fn program(variant: Variant) {
    let buffer = Buffer { value: Mutex::new(None), changed: Condvar::new(), variant };
    let mut values = thread::scope(|scope| {
        let consumers = [scope.spawn(|| buffer.take()), scope.spawn(|| buffer.take())];
        buffer.put(1);
        buffer.put(2);
        consumers.map(|consumer| consumer.join().unwrap())
    });
    values.sort_unstable();
    assert_eq!(values, [1, 2]);
}
