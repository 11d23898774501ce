//! A lock that spins.
//!
//! With `Relaxed` in `unlock`, the next holder of the lock does not see what the last one did
//! under it: two accesses to the protected counter race, although they are never under way at the
//! same time.
//!
//! `cargo run -p unpick --example spinlock` finds the bug; with `-- fixed` at the end it holds.

mod show;

use std::process::ExitCode;
use unpick::sync::Arc;

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::{AtomicBool, Ordering};
use unpick::{Check, hint, thread};

struct SpinLock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
    /// The memory order with which the lock is given back.
    unlock: Ordering,
}

// SAFETY: only the thread that holds the lock uses the value.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    fn new(value: T, unlock: Ordering) -> SpinLock<T> {
        SpinLock { taken: AtomicBool::new(false), value: UnsafeCell::new(value), unlock }
    }

    /// Runs `f` on the value, under the lock.
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        while self.taken.swap(true, Ordering::Acquire) {
            while self.taken.load(Ordering::Relaxed) {
                hint::spin_loop();
            }
        }
        // SAFETY: this thread holds the lock.
        let result = self.value.with_mut(|value| f(unsafe { &mut *value }));
        self.taken.store(false, self.unlock);
        result
    }
}

fn main() -> ExitCode {
    let fixed = std::env::args().any(|argument| argument == "fixed");
    let unlock = if fixed { Ordering::Release } else { Ordering::Relaxed };
    show::show(&Check::new().run(move || {
        let count = Arc::new(SpinLock::new(0, unlock));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let count = Arc::clone(&count);
                thread::spawn(move || count.with(|count| *count += 1))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(count.with(|count| *count), 2);
    }))
}
