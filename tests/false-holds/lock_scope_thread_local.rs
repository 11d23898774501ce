//! violated: panic
//!
//! A scope does not wait for the destructors of thread-locals.

use std::cell::RefCell;

use unpick::sync::atomic::{AtomicUsize, Ordering::*};
use unpick::thread;

static ENDED: AtomicUsize = AtomicUsize::new(0);

struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        ENDED.fetch_add(1, SeqCst);
    }
}

unpick::thread_local! {
    static OWN: RefCell<Option<Counted>> = const { RefCell::new(None) };
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        thread::scope(|scope| {
            scope.spawn(|| OWN.set(Some(Counted)));
        });
        assert_eq!(ENDED.load(SeqCst), 1);
    }
}
