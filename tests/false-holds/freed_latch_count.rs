//! violated: use after free
//!
//! A latch that counts jobs: the last one that counts down wakes the owner by a handle that is in the latch. The owner looks at
//! the count and does not sleep, and so frees the latch before.

use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::{Acquire, Release, AcqRel};
use unpick::thread::{self, Thread};

struct CountLatch {
    open: AtomicUsize,
    owner: Thread,
}

#[derive(Clone, Copy)]
struct Job(*const CountLatch);
// SAFETY: the latch lives until all jobs have counted down.
unsafe impl Send for Job {}

fn done(job: &Job) {
    // SAFETY: see above.
    unsafe {
        if (*job.0).open.fetch_sub(1, AcqRel) == 1 {
            (*job.0).owner.unpark();
        }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let latch = CountLatch { open: AtomicUsize::new(2), owner: thread::current() };
        let latch = Box::into_raw(Box::new(latch));
        let job = Job(latch);
        let other = thread::spawn(move || {
            let job = job;
            done(&job);
        });
        // SAFETY: freed when nobody has the latch any more.
        unsafe {
            (*latch).open.fetch_sub(1, Release);
            while (*latch).open.load(Acquire) != 0 {
                thread::park();
            }
            drop(Box::from_raw(latch));
        }
        other.join().unwrap();
    }
}
