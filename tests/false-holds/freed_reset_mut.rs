//! violated: data race
//!
//! A ring is reset by `get_mut` on its indices while a consumer may be taking something out of it.

use std::cell::UnsafeCell;

use unpick::sync::{Arc, Mutex};
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::{AcqRel, Acquire};
use unpick::thread;

struct Ring {
    lock: Mutex<()>,
    indices: UnsafeCell<Box<[AtomicUsize; 2]>>,
}

// SAFETY: see above.
unsafe impl Send for Ring {}
// SAFETY: see above.
unsafe impl Sync for Ring {}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let indices = Box::new([AtomicUsize::new(0), AtomicUsize::new(2)]);
        let ring = Arc::new(Ring { lock: Mutex::new(()), indices: UnsafeCell::new(indices) });
        let theirs = ring.clone();
        let consumer = thread::spawn(move || {
            let _lock = theirs.lock.lock().unwrap();
            // SAFETY: see above.
            let indices = unsafe { &*theirs.indices.get() };
            if indices[0].load(Acquire) < indices[1].load(Acquire) {
                indices[0].fetch_add(1, AcqRel);
            }
        });

        // SAFETY: see above.
        let indices = unsafe { &mut *ring.indices.get() };
        for index in indices.iter_mut() {
            *index.get_mut() = 0;
        }

        consumer.join().unwrap();
    }
}
