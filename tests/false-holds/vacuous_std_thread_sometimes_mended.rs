//! holds
//!
//! It is one of those under test.

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&flag);
        let other = thread::spawn(move || {
            if theirs.load(SeqCst) {
                unpick::thread::spawn(|| {}).join().unwrap();
            }
        });
        flag.store(true, SeqCst);
        other.join().unwrap();
    }
}
