//! violated: use after free
//!
//! A thread keeps a block in a thread-local that frees it when the thread ends, and has told others its address.

use std::cell::RefCell;
use std::ptr;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, AtomicPtr};
use unpick::sync::atomic::Ordering::{Acquire, Release};
use unpick::thread;

unpick::thread_local! {
    static OWN: RefCell<Option<Box<u64>>> = const { RefCell::new(None) };
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new((AtomicPtr::new(ptr::null_mut::<u64>()), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            let mut block = Box::new(12);
            let pointer = &raw mut *block;
            OWN.with(|own| *own.borrow_mut() = Some(block));
            theirs.0.store(pointer, Release);

        });
        let pointer = shared.0.load(Acquire);
        if !pointer.is_null() {
            // SAFETY: see above.
            std::hint::black_box(unsafe { *pointer });
        }
        shared.1.store(true, Release);
        other.join().unwrap();
    }
}
