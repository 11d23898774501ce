//! A sequence lock: readers do not write, and try again when a writer has been at work.
//!
//! The writer makes the number odd, writes both halves, and makes the number even again. A reader
//! believes what it has read if the number was even and is still the same. Without an `Acquire`
//! fence between reading the halves and reading the number again, the number may be older than the
//! halves, and the reader believes a torn value.
//!
//! `cargo run -p unpick --example seqlock` finds the bug; with `-- fixed` at the end it holds.

mod show;

use std::process::ExitCode;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicUsize, Ordering, fence};
use unpick::{Check, thread};

struct SeqLock {
    number: AtomicUsize,
    halves: [AtomicUsize; 2],
    /// Whether readers and writers have the fences that they need.
    fenced: bool,
}

impl SeqLock {
    fn new(fenced: bool) -> SeqLock {
        let halves = [AtomicUsize::new(0), AtomicUsize::new(0)];
        SeqLock { number: AtomicUsize::new(0), halves, fenced }
    }

    /// Writes both halves; there is one writer.
    fn write(&self, value: usize) {
        let number = self.number.load(Ordering::Relaxed);
        self.number.store(number + 1, Ordering::Relaxed);
        if self.fenced {
            fence(Ordering::Release);
        }
        for half in &self.halves {
            half.store(value, Ordering::Relaxed);
        }
        self.number.store(number + 2, Ordering::Release);
    }

    /// Both halves, if no writer was at work.
    fn try_read(&self) -> Option<[usize; 2]> {
        let before = self.number.load(Ordering::Acquire);
        let halves = [0, 1].map(|half: usize| self.halves[half].load(Ordering::Relaxed));
        if self.fenced {
            fence(Ordering::Acquire);
        }
        let after = self.number.load(Ordering::Relaxed);
        (before == after && before.is_multiple_of(2)).then_some(halves)
    }
}

fn main() -> ExitCode {
    let fixed = std::env::args().any(|argument| argument == "fixed");
    show::show(&Check::new().run(move || {
        let lock = Arc::new(SeqLock::new(fixed));
        let theirs = Arc::clone(&lock);
        let writer = thread::spawn(move || theirs.write(7));
        if let Some([low, high]) = lock.try_read() {
            assert_eq!(low, high, "a torn value was believed");
        }
        writer.join().unwrap();
    }))
}
