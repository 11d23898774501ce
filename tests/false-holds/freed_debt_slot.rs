//! violated: use after free
//!
//! A pointer that is read by way of a debt: the reader notes in a slot what it has read, and reads again. The slot is written
//! and read without SeqCst, so that the writer may find no debt, and free.

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use unpick::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use unpick::thread;

const NONE: usize = 0b11;
const WEAK: [Ordering; 3] = [AcqRel, Acquire, Acquire];

struct Swap {
    pointer: AtomicPtr<String>,
    debt: AtomicUsize,
}

impl Swap {
    fn read(&self) -> usize {
        loop {
            let pointer = self.pointer.load(Acquire);
            self.debt.swap(pointer as usize, WEAK[0]);
            if self.pointer.load(WEAK[1]) == pointer {
                // SAFETY: the debt keeps it.
                let len = unsafe { &*pointer }.len();
                self.debt.store(NONE, Ordering::Release);
                return len;
            }
            self.debt.store(NONE, Ordering::Release);
        }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let text = Box::into_raw(Box::new(String::from("one")));
        let swap = Arc::new(Swap { pointer: AtomicPtr::new(text), debt: AtomicUsize::new(NONE) });
        let theirs = swap.clone();
        let reader = thread::spawn(move || assert_eq!(theirs.read(), 3));
        let old = swap.pointer.swap(Box::into_raw(Box::new(String::from("two"))), WEAK[0]);
        while swap.debt.load(WEAK[2]) == old as usize {}
        // SAFETY: nobody has a debt.
        drop(unsafe { Box::from_raw(old) });
        reader.join().unwrap();
        // SAFETY: all others have ended.
        drop(unsafe { Box::from_raw(swap.pointer.load(Relaxed)) });
        let _ = SeqCst;
        let _ = AcqRel;
    }
}
