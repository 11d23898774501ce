//! holds
//!
//! As the other one, but what is replaced is freed in the end.

use unpick::sync::Arc;
use unpick::sync::atomic::AtomicU64;
use unpick::sync::atomic::Ordering::{AcqRel, Acquire};
use unpick::thread;

fn pack(pointer: *mut u32, version: u64) -> u64 {
    (pointer as u64) << 16 | version
}

fn unpack(word: u64) -> (*mut u32, u64) {
    ((word >> 16) as *mut u32, word & 0xffff)
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let word = Arc::new(AtomicU64::new(pack(Box::into_raw(Box::new(1)), 0)));
        let theirs = word.clone();
        let reader = thread::spawn(move || {
            let (pointer, version) = unpack(theirs.load(Acquire));
            // SAFETY: see above.
            let value = unsafe { *pointer };
            if unpack(theirs.load(Acquire)).1 == version {
                assert!(value == 1 || value == 2);
            }
        });
        let (old, version) = unpack(word.load(Acquire));
        word.swap(pack(Box::into_raw(Box::new(2)), version + 1), AcqRel);

        reader.join().unwrap();
        // SAFETY: all others have ended.
        drop(unsafe { Box::from_raw(old) });
        // SAFETY: all others have ended.
        drop(unsafe { Box::from_raw(unpack(word.load(Acquire)).0) });
    }
}
