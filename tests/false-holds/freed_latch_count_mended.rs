//! holds
//!
//! As the other one, but each job has its own copy of the handle.

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
        let owner = (*job.0).owner.clone();
        if (*job.0).open.fetch_sub(1, AcqRel) == 1 {
            owner.unpark();
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
