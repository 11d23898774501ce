//! holds
//!
//! An object that one thread makes and another uses is shared.

use unpick::sync::atomic::{AtomicU32, Ordering::*};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let count = Box::new(AtomicU32::new(0));
        let count = thread::spawn(move || {
            count.fetch_add(1, SeqCst);
            count
        });
        drop(count.join().unwrap());
    }
}
