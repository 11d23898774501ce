//! holds
//!
//! As `weaker_store`, and a round hands on what it has acquired.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicUsize;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let [a, b, c, d] = [0; 4].map(|number| Arc::new(AtomicUsize::new(number)));
        let (writes_a, writes_d) = (a.clone(), d.clone());
        let first = thread::spawn(move || {
            writes_d.store(1, Relaxed);
            writes_a.store(1, Release);
        });
        let (reads_a, reads_d) = (a.clone(), d.clone());
        let (writes_b, writes_c) = (b.clone(), c.clone());
        let second = thread::spawn(move || {
            if reads_a.load(Acquire) == 1 && reads_d.load(Relaxed) == 0 {
                writes_c.store(2, Relaxed);
            }
            writes_b.store(1, Release);
        });
        while b.load(Acquire) == 0 {
            if a.load(Acquire) == 1 {
                a.store(1, Release);
            }
        }
        assert_ne!(c.load(Relaxed), 2);
        first.join().unwrap();
        second.join().unwrap();
    }
}
