//! holds
//!
//! As the other one, by a swap.

use std::ptr;

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicPtr;
use unpick::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use unpick::thread;

fn take(slot: &AtomicPtr<[u64; 2]>) -> *mut [u64; 2] {
    slot.swap(ptr::null_mut(), AcqRel)
}

fn consume(slot: &AtomicPtr<[u64; 2]>) {
    let taken = take(slot);
    if !taken.is_null() {
        // SAFETY: whoever takes it is the owner.
        let own = unsafe { Box::from_raw(taken) };
        assert_eq!(own[0] + 1, own[1]);
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let slot = Arc::new(AtomicPtr::new(Box::into_raw(Box::new([1, 2]))));
        let theirs = slot.clone();
        let other = thread::spawn(move || consume(&theirs));
        consume(&slot);
        other.join().unwrap();
        let _ = (AcqRel, Acquire, Release);
    }
}
