//! violated: data race
//!
//! Two threads write to the same element of an array in one cell.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::thread;

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

impl<const N: usize> Shared<[u8; N]> {
    fn set(&self, index: usize, value: u8) {
        // SAFETY: each thread has an element of its own, or should have.
        unsafe { self.0.get().cast::<u8>().add(index).write(value) };
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let array = Arc::new(Shared(UnsafeCell::new([0u8; 5])));
        let threads: Vec<_> = (0..2)
            .map(|number| {
                let array = array.clone();
                thread::spawn(move || array.set(1 + number / 2, 7 + number as u8))
            })
            .collect();
        array.set(4, 1);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        // SAFETY: the others have ended.
        assert_eq!(unsafe { (*array.0.get())[4] }, 1);
    }
}
