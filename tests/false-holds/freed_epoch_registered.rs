//! violated: use after free
//!
//! Readers enter themselves in a list under a lock before they say that they read. The writer sees a reader in the list, and not
//! what that has said since.

use unpick::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use unpick::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use unpick::sync::{Arc, Mutex};
use unpick::thread;

const SAYS: Ordering = Release;
const LOOKS: Ordering = Acquire;

struct Domain {
    readers: Mutex<Vec<Arc<AtomicUsize>>>,
    current: AtomicPtr<u32>,
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let current = AtomicPtr::new(Box::into_raw(Box::new(1)));
        let domain = Arc::new(Domain { readers: Mutex::new(Vec::new()), current });
        let theirs = domain.clone();
        let reader = thread::spawn(move || {
            let active = Arc::new(AtomicUsize::new(0));
            theirs.readers.lock().unwrap().push(active.clone());
            active.store(1, SAYS);
            let value = theirs.current.load(LOOKS);
            // SAFETY: it lives as long as the reader is active.
            std::hint::black_box(unsafe { *value });
            active.store(0, Release);
        });
        let old = domain.current.swap(Box::into_raw(Box::new(2)), SeqCst);
        let waits = domain.readers.lock().unwrap().iter().any(|active| active.load(LOOKS) == 1);
        if !waits {
            // SAFETY: whoever becomes active from now on has the new one.
            drop(unsafe { Box::from_raw(old) });
        }
        reader.join().unwrap();
        // SAFETY: all others have ended.
        unsafe {
            if waits {
                drop(Box::from_raw(old));
            }
            drop(Box::from_raw(domain.current.load(Acquire)));
        }
    }
}
