//! violated: panic
//!
//! What `wait_timeout_while` says of the time is not looked at.

use std::time::Duration;

use unpick::sync::{Arc, Condvar, Mutex};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let threads = [1, 2].map(|number| {
            let theirs = pair.clone();
            thread::spawn(move || {
                *theirs.0.lock().unwrap() += number;
                theirs.1.notify_one();
            })
        });
        let guard = pair.0.lock().unwrap();
        let (sum, result) = pair.1.wait_timeout_while(guard, Duration::from_secs(3), |sum| *sum < 3).unwrap();
        assert!(*sum == 3 || !result.timed_out() || *sum < 0);
        drop(sum);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}
