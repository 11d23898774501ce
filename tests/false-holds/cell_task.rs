//! violated: data race
//!
//! Two tasks change what is in a cell of their parent.

use unpick::cell::UnsafeCell;
use unpick::future::{block_on, spawn};
use unpick::sync::Arc;

struct Shared<T>(UnsafeCell<T>);

// SAFETY: the program says when threads may use it, rightly or not.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

async fn add(cell: Arc<Shared<u64>>, by: u64) {
    // SAFETY: one task does so at a time, or should.
    unsafe { *cell.0.get() += by };
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        block_on(async {
            let cell = Arc::new(Shared(UnsafeCell::new(0)));
            let one = spawn(add(cell.clone(), 1));
            let two = spawn(add(cell.clone(), 2));
            one.await.unwrap();
            two.await.unwrap();
        });
    }
}
