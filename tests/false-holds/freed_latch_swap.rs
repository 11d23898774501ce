//! violated: use after free
//!
//! A spin latch of a thread pool: whoever sets it swaps the state, and reads from the latch afterwards whom to wake. The owner
//! of the job frees the latch as soon as it is set.

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::{Acquire, AcqRel, Relaxed};
use unpick::thread;

const UNSET: usize = 0;
const SLEEPING: usize = 2;
const SET: usize = 3;

struct SpinLatch {
    state: AtomicUsize,
    registry: Arc<AtomicUsize>,
    worker: usize,
}

struct Job(*const SpinLatch);
// SAFETY: the latch lives until it is set.
unsafe impl Send for Job {}

impl Job {
    fn set(&self) {
        // SAFETY: see above.
        unsafe {
            let old = (*self.0).state.swap(SET, AcqRel);
            if old == SLEEPING {
                (*self.0).registry.fetch_add((*self.0).worker, Relaxed);
            }
            std::hint::black_box((*self.0).worker);
        }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let registry = Arc::new(AtomicUsize::new(0));
        let latch = SpinLatch { state: AtomicUsize::new(UNSET), registry: registry.clone(), worker: 1 };
        let latch = Box::into_raw(Box::new(latch));
        let job = Job(latch);
        let other = thread::spawn(move || job.set());
        // SAFETY: this thread is the one that frees it.
        unsafe {
            while (*latch).state.load(Acquire) != SET {}
            drop(Box::from_raw(latch));
        }
        other.join().unwrap();
        assert_eq!(registry.load(Relaxed), 0);
    }
}
