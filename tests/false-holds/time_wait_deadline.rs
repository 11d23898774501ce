//! violated: panic
//!
//! A condition is waited for until a deadline. When it has passed, what was waited for is taken all the same.

use std::time::Duration;

use unpick::sync::{Arc, Condvar, Mutex};
use unpick::thread;
use unpick::time::Instant;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let pair = Arc::new((Mutex::new(None), Condvar::new()));
        let theirs = pair.clone();
        let other = thread::spawn(move || {
            *theirs.0.lock().unwrap() = Some(7);
            theirs.1.notify_all();
        });
        let deadline = Instant::now() + Duration::from_secs(1);
        let mut value = pair.0.lock().unwrap();
        while value.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            value = pair.1.wait_timeout(value, left).unwrap().0;
        }
        assert_eq!(value.unwrap(), 7);
        drop(value);
        other.join().unwrap();
    }
}
