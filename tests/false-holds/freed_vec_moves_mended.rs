//! holds
//!
//! As the other one, but the vector has room for it.

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicPtr;
use unpick::sync::atomic::Ordering::{Acquire, Release};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let mut all = Vec::with_capacity(3);
        all.extend([1u64, 2]);
        let first = Arc::new(AtomicPtr::new(std::ptr::null_mut()));
        first.store(all.as_mut_ptr(), Release);
        let theirs = first.clone();
        let reader = thread::spawn(move || {
            // SAFETY: the element stays where it is.
            assert_eq!(unsafe { *theirs.load(Acquire) }, 1);
        });
        first.load(Acquire);
        all.push(3);
        reader.join().unwrap();
        assert_eq!(all, [1, 2, 3]);
    }
}
