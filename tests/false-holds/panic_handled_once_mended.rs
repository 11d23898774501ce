//! holds
//!
//! A panic that was looked at goes on in another thread, and is looked at again.

use std::panic::resume_unwind;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering::Relaxed};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let payload = thread::spawn(|| panic!("once")).join().unwrap_err();
        let told = Arc::new(AtomicBool::new(false));
        let theirs = told.clone();
        let other = thread::spawn(move || {
            theirs.store(true, Relaxed);
            resume_unwind(payload)
        });
        assert!(other.join().is_err() && told.load(Relaxed));
    }
}
