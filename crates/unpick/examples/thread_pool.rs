//! A pool of workers that is shut down.
//!
//! Workers look at `closed` and then wait for a job. If the pool is closed between the two, and the
//! flag is set without the lock, the wake-up comes too early and the worker waits for ever. Set
//! under the lock, the flag cannot change between the look and the wait.
//!
//! `cargo run -p unpick --example thread_pool` finds the bug; with `-- fixed` at the end it holds.

mod show;

use std::process::ExitCode;

use unpick::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use unpick::sync::{Arc, Condvar, Mutex};
use unpick::{Check, thread};

#[derive(Default)]
struct Pool {
    jobs: Mutex<Vec<usize>>,
    added: Condvar,
    closed: AtomicBool,
    done: AtomicUsize,
}

impl Pool {
    fn add(&self, job: usize) {
        self.jobs.lock().unwrap().push(job);
        self.added.notify_one();
    }

    fn close(&self, fixed: bool) {
        let guard = fixed.then(|| self.jobs.lock().unwrap());
        self.closed.store(true, Ordering::Release);
        drop(guard);
        self.added.notify_all();
    }

    fn work(&self) {
        let mut jobs = self.jobs.lock().unwrap();
        loop {
            if let Some(job) = jobs.pop() {
                self.done.fetch_add(job, Ordering::Relaxed);
            } else if self.closed.load(Ordering::Acquire) {
                return;
            } else {
                jobs = self.added.wait(jobs).unwrap();
            }
        }
    }
}

fn main() -> ExitCode {
    let fixed = std::env::args().any(|argument| argument == "fixed");
    show::show(&Check::new().run(move || {
        let pool = Arc::new(Pool::default());
        let theirs = Arc::clone(&pool);
        let worker = thread::spawn(move || theirs.work());
        pool.add(1);
        pool.close(fixed);
        worker.join().unwrap();
        assert_eq!(pool.done.load(Ordering::Relaxed), 1);
    }))
}
