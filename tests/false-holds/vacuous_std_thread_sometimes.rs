//! inconclusive: what a thread of the operating system does was not seen
//!
//! A thread of the operating system is started in some executions only.

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&flag);
        let other = thread::spawn(move || {
            if theirs.load(SeqCst) {
                std::thread::spawn(|| {}).join().unwrap();
            }
        });
        flag.store(true, SeqCst);
        other.join().unwrap();
    }
}
