//! inconclusive: no object was used by two threads
//!
//! A static atomic of the standard library.

use std::sync::atomic::{AtomicU32, Ordering::*};

use unpick::thread;

static COUNT: AtomicU32 = AtomicU32::new(0);

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let other = thread::spawn(|| COUNT.fetch_add(1, SeqCst));
        COUNT.fetch_add(1, SeqCst);
        other.join().unwrap();
    }
}
