//! holds
//!
//! As it should be: the load acquires.

use unpick::cell::UnsafeCell;
use unpick::hint;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicUsize, Ordering};
use unpick::thread;

struct Tickets {
    next: AtomicUsize,
    serving: AtomicUsize,
    value: UnsafeCell<[u16; 4]>,
}

// SAFETY: the value is used by who is served.
unsafe impl Sync for Tickets {}
// SAFETY: as above.
unsafe impl Send for Tickets {}

impl Tickets {
    fn change(&self, by: u16) {
        let own = self.next.fetch_add(1, Ordering::Relaxed);
        while self.serving.load(Ordering::Acquire) != own {
            hint::spin_loop();
        }
        // SAFETY: it is this thread's turn.
        unsafe { (*self.value.get())[2] += by };
        self.serving.store(own + 1, Ordering::Release);
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let tickets = Arc::new(Tickets {
            next: AtomicUsize::new(0),
            serving: AtomicUsize::new(0),
            value: UnsafeCell::new([0; 4]),
        });
        let theirs = tickets.clone();
        let other = thread::spawn(move || theirs.change(3));
        tickets.change(5);
        other.join().unwrap();
        // SAFETY: the other thread has ended.
        assert_eq!(unsafe { *tickets.value.get() }, [0, 0, 8, 0]);
    }
}
