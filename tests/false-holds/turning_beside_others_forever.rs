//! violated: livelock
//!
//! Two threads wait for values that nobody stores. The state of one comes back every second round, in memory from `unpick::outside`,
//! which lies elsewhere in each run; the other stores the same value in each round. The livelock must be told, and for that
//! found again.

use std::sync::atomic::AtomicUsize as StdUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicUsize;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let values = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let theirs = values.clone();
        let other = thread::spawn(move || {
            let tries = unpick::outside(|| Box::new(StdUsize::new(0)));
            while theirs[0].load(Acquire) != 2 {
                if tries.load(Relaxed) < 2 {
                    tries.fetch_add(1, Relaxed);
                } else {
                    theirs[1].store(1, Release);
                }
            }
        });
        let turn = unpick::outside(|| Box::new(StdUsize::new(0)));
        while values[0].load(Acquire) != 1 {
            turn.fetch_xor(1, Relaxed);
            if values[1].load(Acquire) == 1 {
                values[1].store(1, Relaxed);
            }
        }
        other.join().unwrap();
    }
}
