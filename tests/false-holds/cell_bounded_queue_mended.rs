//! holds
//!
//! As it should be: the slot is given back by a release store.

use std::mem::MaybeUninit;

use unpick::cell::UnsafeCell;
use unpick::hint;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicUsize, Ordering};
use unpick::thread;

struct Slot {
    turn: AtomicUsize,
    value: UnsafeCell<MaybeUninit<u64>>,
}

/// One slot, several producers, one consumer.
struct Queue {
    slot: Slot,
    tail: AtomicUsize,
}

// SAFETY: the turn of a slot says who may use it.
unsafe impl Sync for Queue {}
// SAFETY: as above.
unsafe impl Send for Queue {}

impl Queue {
    fn push(&self, value: u64) {
        let ticket = self.tail.fetch_add(1, Ordering::Relaxed);
        while self.slot.turn.load(Ordering::Acquire) != 2 * ticket {
            hint::spin_loop();
        }
        // SAFETY: the slot is empty, and this is its producer.
        unsafe { (*self.slot.value.get()).write(value) };
        self.slot.turn.store(2 * ticket + 1, Ordering::Release);
    }

    fn pop(&self, ticket: usize) -> u64 {
        while self.slot.turn.load(Ordering::Acquire) != 2 * ticket + 1 {
            hint::spin_loop();
        }
        // SAFETY: the slot is full, and there is one consumer.
        let value = unsafe { (*self.slot.value.get()).assume_init_read() };
        self.slot.turn.store(2 * ticket + 2, Ordering::Release);
        value
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let slot = Slot { turn: AtomicUsize::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) };
        let queue = Arc::new(Queue { slot, tail: AtomicUsize::new(0) });
        let producers: Vec<_> = (0..2)
            .map(|number| {
                let queue = queue.clone();
                thread::spawn(move || queue.push(10 + number))
            })
            .collect();
        let sum = queue.pop(0) + queue.pop(1);
        producers.into_iter().for_each(|producer| producer.join().unwrap());
        assert_eq!(sum, 21);
    }
}
