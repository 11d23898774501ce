//! violated: panic
//!
//! The clock on the wall is asked in a loop, in whole seconds; that it goes on is taken to be impossible.

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::thread;
use unpick::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        let seconds = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let until = seconds() + 30;
        let mut late = false;
        while !flag.load(Acquire) && !late {
            late = seconds() > until;
        }
        assert!(!late);
        other.join().unwrap();
    }
}
