//! holds
//!
//! Each round counts a reader in and out again.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicUsize;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let (readers, ready) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (counts, sets) = (readers.clone(), ready.clone());
        let other = thread::spawn(move || {
            if counts.load(Acquire) < 2 {
                sets.store(1, Release);
            }
        });
        loop {
            readers.fetch_add(1, AcqRel);
            let is_ready = ready.load(Acquire) == 1;
            readers.fetch_sub(1, AcqRel);
            if is_ready {
                break;
            }
        }
        other.join().unwrap();
    }
}
