//! violated: panic
//!
//! Two threads wait for each other, each for a second; that both give up is not thought of.

use std::time::Duration;

use unpick::sync::Arc;
use unpick::sync::atomic::{AtomicBool, Ordering::*};
use unpick::thread;
use unpick::time::Instant;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let threads = [0, 1].map(|number| {
            let flags = flags.clone();
            thread::spawn(move || {
                let start = Instant::now();
                flags[number].store(true, SeqCst);
                while !flags[1 - number].load(SeqCst) {
                    if start.elapsed() > Duration::from_secs(1) {
                        return false;
                    }
                    thread::yield_now();
                }
                true
            })
        });
        let [first, second] = threads.map(|thread| thread.join().unwrap());
        assert!(first && second);
    }
}
