//! holds
//!
//! As it should be: one is joined before the next is spawned.

use unpick::cell::UnsafeCell;
use unpick::thread;

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

fn sum(numbers: &[u32]) -> u32 {
    let total = Shared(UnsafeCell::new(0));
    let total = &total;
    thread::scope(|scope| {
        for &number in numbers {
            // SAFETY: it is not, if two do it at the same time.
            let adder = scope.spawn(move || unsafe { *total.0.get() += number });
            adder.join().unwrap();
        }
    });
    // SAFETY: all have ended.
    unsafe { *total.0.get() }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let again = sum(&[1, 2]);
        assert_eq!(sum(&[4, 8]) + again, 15);
    }
}
