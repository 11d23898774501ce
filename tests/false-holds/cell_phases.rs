//! violated: data race
//!
//! The threads change places after the first phase, and nothing divides the phases.

use unpick::cell::UnsafeCell;
use unpick::sync::{Arc, Barrier};
use unpick::thread;

struct Grid {
    halves: [UnsafeCell<u32>; 2],
    barrier: Barrier,
}

// SAFETY: in each phase a half has one owner.
unsafe impl Sync for Grid {}
// SAFETY: as above.
unsafe impl Send for Grid {}

impl Grid {
    fn run(&self, own: usize) {
        // SAFETY: the half is ours in this phase.
        unsafe { *self.halves[own].get() += 1 };
        // SAFETY: as above, in the next phase.
        unsafe { *self.halves[1 - own].get() += 1 };
        self.barrier.wait();
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let halves = [UnsafeCell::new(0), UnsafeCell::new(0)];
        let grid = Arc::new(Grid { halves, barrier: Barrier::new(2) });
        let theirs = grid.clone();
        let other = thread::spawn(move || theirs.run(1));
        grid.run(0);
        other.join().unwrap();
        // SAFETY: the other thread has ended.
        assert_eq!(unsafe { *grid.halves[0].get() }, 2);
    }
}
