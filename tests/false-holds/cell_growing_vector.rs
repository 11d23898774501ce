//! violated: data race
//!
//! Cells move when their vector grows; then two threads write to the same one.

use unpick::cell::UnsafeCell;
use unpick::sync::Arc;
use unpick::thread;

struct Cells(Vec<UnsafeCell<u32>>);

// SAFETY: each thread has its own cells, or should have.
unsafe impl Sync for Cells {}
// SAFETY: as above.
unsafe impl Send for Cells {}

impl Cells {
    fn fill(&self, from: usize, by: u32) {
        for cell in &self.0[from..from + 3] {
            // SAFETY: as above.
            unsafe { *cell.get() += by };
        }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let mut cells = Cells(Vec::with_capacity(1));
        for number in 0..6 {
            cells.0.push(UnsafeCell::new(number));
            // SAFETY: there is no other thread.
            unsafe { *cells.0[number as usize].get() += 1 };
        }
        let cells = Arc::new(cells);
        let theirs = cells.clone();
        let other = thread::spawn(move || theirs.fill(2, 5));
        cells.fill(0, 7);
        other.join().unwrap();
    }
}
