//! holds
//!
//! A thread spins for 200 rounds and then parks.

use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::hint::spin_loop;
use unpick::sync::Arc;
use unpick::sync::atomic::AtomicBool;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let waits = thread::spawn(move || {
            for _ in 0..200 {
                if theirs.load(Acquire) {
                    return;
                }
                spin_loop();
            }
            while !theirs.load(Acquire) {
                thread::park();
            }
        });
        flag.store(true, Release);
        waits.thread().unpark();
        waits.join().unwrap();
    }
}
