//! holds
//!
//! As it should be: the exchange acquires.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering};
use unpick::thread;

struct Place {
    taken: AtomicBool,
    scratch: UnsafeCell<[u8; 32]>,
}

struct Pool(Vec<Place>);

// SAFETY: a place is used by who has taken it.
unsafe impl Sync for Pool {}
// SAFETY: as above.
unsafe impl Send for Pool {}

impl Pool {
    fn work(&self, value: u8) -> bool {
        let free = |place: &&Place| !place.taken.swap(true, Ordering::Acquire);
        let Some(place) = self.0.iter().find(free) else { return false };
        // SAFETY: the place is ours.
        let scratch = unsafe { &mut *place.scratch.get() };
        scratch.iter_mut().for_each(|byte| *byte += value);
        place.taken.store(false, Ordering::Release);
        true
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let place = || Place { taken: AtomicBool::new(false), scratch: UnsafeCell::new([0; 32]) };
        let pool = Arc::new(Pool((0..2).map(|_| place()).collect()));
        let theirs = pool.clone();
        let other = thread::spawn(move || theirs.work(1));
        assert!(pool.work(2));
        assert!(other.join().unwrap());
    }
}
