//! A crate that has adopted unpick.
//!
//! It says `unpick::` where it would say `std::`. In an ordinary build that is `std`; `cargo test`
//! turns on the feature `check` through the dev-dependency, and the same code is checked.

use unpick::sync::{Condvar, Mutex};

/// A queue that holds at most so many items.
#[derive(Debug)]
pub struct Bounded<T> {
    items: Mutex<Vec<T>>,
    room: usize,
    changed: Condvar,
}

impl<T> Bounded<T> {
    /// An empty queue with room for `room` items.
    pub const fn new(room: usize) -> Bounded<T> {
        Bounded { items: Mutex::new(Vec::new()), room, changed: Condvar::new() }
    }

    /// Puts an item in, waiting for room.
    pub fn push(&self, item: T) {
        let items = self.items.lock().unwrap();
        let mut items = self.changed.wait_while(items, |items| items.len() == self.room).unwrap();
        items.push(item);
        self.changed.notify_all();
    }

    /// Takes the oldest item out, waiting for one.
    pub fn pop(&self) -> T {
        let items = self.items.lock().unwrap();
        let mut items = self.changed.wait_while(items, |items| items.is_empty()).unwrap();
        let item = items.remove(0);
        self.changed.notify_all();
        item
    }
}
