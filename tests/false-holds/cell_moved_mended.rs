//! holds
//!
//! As it should be: what was on the stack is used for other things, and nobody writes to the cell at the same time.

use std::hint::black_box;

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicUsize, Ordering};
use unpick::thread;

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

#[inline(never)]
fn made() -> Shared<[u64; 2]> {
    let cell = Shared(UnsafeCell::new([0; 2]));
    // SAFETY: the cell is ours.
    unsafe { (*cell.0.get())[0] = 5 };
    black_box(cell)
}

#[inline(never)]
fn numbers(seed: u64) -> u64 {
    let mut own = [0u64; 16];
    for (index, place) in own.iter_mut().enumerate() {
        *place = seed * (index as u64 + 3);
    }
    black_box(own).iter().sum()
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let count = Arc::new(AtomicUsize::new(0));
        let cell = made();
        // SAFETY: as above.
        unsafe { (*cell.0.get())[1] = 1 };
        let cell = Arc::new(black_box(cell));
        let (theirs, counted) = (cell.clone(), count.clone());
        let other = thread::spawn(move || {
            counted.fetch_add(numbers(3) as usize, Ordering::Relaxed);
            // SAFETY: nobody else writes, or should.
            unsafe { (*theirs.0.get())[1] = numbers(1) };
            counted.fetch_add(1, Ordering::Relaxed);
        });
        count.fetch_add(numbers(7) as usize, Ordering::Relaxed);
        black_box(numbers(2));
        other.join().unwrap();
    }
}
