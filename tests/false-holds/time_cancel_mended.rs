//! holds
//!
//! Who gives up finds out whether the answer has come at that moment.

use std::time::Duration;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicUsize, Ordering::*};
use unpick::thread;
use unpick::time::Instant;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        // 0: asked, 1: answered, 2: given up.
        let state = Arc::new(AtomicUsize::new(0));
        let theirs = state.clone();
        let other = thread::spawn(move || theirs.compare_exchange(0, 1, AcqRel, Acquire).is_ok());
        let start = Instant::now();
        let mut got = true;
        while state.load(Acquire) == 0 {
            if start.elapsed() > Duration::from_millis(250) {
                got = state.compare_exchange(0, 2, AcqRel, Acquire).is_err();
                break;
            }
            unpick::hint::spin_loop();
        }
        assert_eq!(other.join().unwrap(), got);
    }
}
