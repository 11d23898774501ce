//! A queue for one producer and one consumer, in a ring of slots.
//!
//! The producer fills a slot and then moves `tail`. With `Relaxed` nothing orders the two: the
//! consumer may see the new `tail` before it may touch the slot, which is a data race. Under
//! sequential consistency the bug does not show: try `UNPICK_MODEL=sc`.
//!
//! `cargo run -p unpick --example spsc_ring` finds the bug; with `-- fixed` at the end it holds.

mod show;

use std::process::ExitCode;
use unpick::sync::Arc;

use unpick::cell::UnsafeCell;
use unpick::sync::atomic::{AtomicUsize, Ordering};
use unpick::{Check, hint, thread};

struct Ring<T, const N: usize> {
    slots: [UnsafeCell<Option<T>>; N],
    /// How many values have been taken out.
    head: AtomicUsize,
    /// How many values have been put in.
    tail: AtomicUsize,
    /// The memory order with which the producer moves `tail`.
    publish: Ordering,
}

// SAFETY: one thread pushes and one pops. `head` and `tail` keep them from meeting in a slot.
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

impl<T, const N: usize> Ring<T, N> {
    fn new(publish: Ordering) -> Ring<T, N> {
        let slots = std::array::from_fn(|_| UnsafeCell::new(None));
        Ring { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0), publish }
    }

    /// Puts a value in, or gives it back if the ring is full. For the producer only.
    fn push(&self, value: T) -> Result<(), T> {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail - self.head.load(Ordering::Acquire) == N {
            return Err(value);
        }
        // SAFETY: the slot is not in use until `tail` has moved past it.
        self.slots[tail % N].with_mut(|slot| unsafe { *slot = Some(value) });
        self.tail.store(tail + 1, self.publish);
        Ok(())
    }

    /// Takes the oldest value out. For the consumer only.
    fn pop(&self) -> Option<T> {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: the slot is not used again until `head` has moved past it.
        let value = self.slots[head % N].with_mut(|slot| unsafe { (*slot).take() });
        self.head.store(head + 1, Ordering::Release);
        value
    }
}

fn main() -> ExitCode {
    let fixed = std::env::args().any(|argument| argument == "fixed");
    let publish = if fixed { Ordering::Release } else { Ordering::Relaxed };
    show::show(&Check::new().run(move || {
        let ring = Arc::new(Ring::<u32, 2>::new(publish));
        let theirs = Arc::clone(&ring);
        let producer = thread::spawn(move || {
            for value in 1..=3 {
                while theirs.push(value).is_err() {
                    hint::spin_loop();
                }
            }
        });
        for expected in 1..=3 {
            let value = loop {
                if let Some(value) = ring.pop() {
                    break value;
                }
                hint::spin_loop();
            };
            assert_eq!(value, expected);
        }
        producer.join().unwrap();
    }))
}
