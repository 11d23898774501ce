//! A buffer with room for one item, for producers and consumers.
//!
//! With one condition variable for both, `notify_one` may wake a thread that cannot go on: a
//! producer that has put an item in wakes another producer, and the consumer sleeps for ever. Two
//! condition variables, or `notify_all`, are the fix.
//!
//! `cargo run -p unpick --example bounded_buffer` finds the bug; with `-- fixed` at the end it holds.

mod show;

use std::process::ExitCode;

use unpick::sync::{Arc, Condvar, Mutex};
use unpick::{Check, thread};

struct Buffer {
    item: Mutex<Option<u32>>,
    changed: Condvar,
    /// Whether everybody is woken.
    wakes_all: bool,
}

impl Buffer {
    fn new(wakes_all: bool) -> Buffer {
        Buffer { item: Mutex::new(None), changed: Condvar::new(), wakes_all }
    }

    fn put(&self, new: u32) {
        let item = self.item.lock().unwrap();
        let mut item = self.changed.wait_while(item, |item| item.is_some()).unwrap();
        *item = Some(new);
        self.wake();
    }

    fn take(&self) -> u32 {
        let item = self.item.lock().unwrap();
        let mut item = self.changed.wait_while(item, |item| item.is_none()).unwrap();
        let taken = item.take().unwrap();
        self.wake();
        taken
    }

    fn wake(&self) {
        if self.wakes_all {
            self.changed.notify_all();
        } else {
            self.changed.notify_one();
        }
    }
}

fn main() -> ExitCode {
    let fixed = std::env::args().any(|argument| argument == "fixed");
    show::show(&Check::new().run(move || {
        let buffer = Arc::new(Buffer::new(fixed));
        let producers: Vec<_> = (1..=2)
            .map(|item| {
                let buffer = Arc::clone(&buffer);
                thread::spawn(move || buffer.put(item))
            })
            .collect();
        let theirs = Arc::clone(&buffer);
        let consumer = thread::spawn(move || theirs.take());
        let sum = buffer.take() + consumer.join().unwrap();
        assert_eq!(sum, 3);
        for producer in producers {
            producer.join().unwrap();
        }
    }))
}
