//! inconclusive: what a thread of the operating system does was not seen
//!
//! A thread with a name, which nobody joins.

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicU32, Ordering::*};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let numbers = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&numbers);
        std::thread::Builder::new().name(String::from("named")).spawn(|| {}).unwrap();
        let other = thread::spawn(move || theirs.fetch_add(1, SeqCst));
        numbers.fetch_add(1, SeqCst);
        other.join().unwrap();
    }
}
