//! holds
//!
//! As it should be: each thread writes to its own cell.

use unpick::cell::UnsafeCell;
use unpick::thread;

unpick::thread_local! {
    static COUNT: UnsafeCell<u32> = const { UnsafeCell::new(0) };
}

fn add(place: usize) {
    // SAFETY: the place is a cell of this thread, or should be.
    unsafe { *(place as *mut u32) += 1 };
}

fn place() -> usize {
    COUNT.with(|count| count.get() as usize)
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let ours = place();
        let other = thread::spawn(move || add(place()));
        add(ours);
        other.join().unwrap();
        add(ours);
    }
}
