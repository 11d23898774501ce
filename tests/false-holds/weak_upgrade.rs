//! holds
//!
//! Each round counts an owner in and out again.

use unpick::sync::Arc;
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let owned = Arc::new(1);
        let weak = Arc::downgrade(&owned);
        let other = thread::spawn(move || drop(owned));
        while weak.upgrade().is_some() {
            thread::yield_now();
        }
        other.join().unwrap();
    }
}
