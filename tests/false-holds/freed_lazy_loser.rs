//! violated: use after free
//!
//! Two threads make a value that is made once; the one that comes too late frees the value of the other, and puts its own one in
//! the place.

use std::ptr;

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicPtr;
use unpick::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use unpick::thread;

fn get(slot: &AtomicPtr<u64>) -> u64 {
    let mut value = slot.load(Acquire);
    if value.is_null() {
        let own = Box::into_raw(Box::new(9));
        match slot.compare_exchange(ptr::null_mut(), own, AcqRel, Acquire) {
            Ok(_) => value = own,
            Err(theirs) => {
                value = theirs;
                // SAFETY: it is not in the slot.
                drop(unsafe { Box::from_raw(theirs) });
                if theirs != own {
                    slot.store(own, Release);
                    value = own;
                }
            }
        }
    }
    // SAFETY: what is in the slot stays there.
    unsafe { value.read() }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let slot = Arc::new(AtomicPtr::new(ptr::null_mut()));
        let theirs = slot.clone();
        let other = thread::spawn(move || assert_eq!(get(&theirs), 9));
        assert_eq!(get(&slot), 9);
        other.join().unwrap();
        // SAFETY: all others have ended.
        drop(unsafe { Box::from_raw(slot.load(Acquire)) });
    }
}
