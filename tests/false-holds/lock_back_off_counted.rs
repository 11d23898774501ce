//! violated: panic
//!
//! As `lock_back_off`, and one thread counts how often it has begun again.

use unpick::sync::{Arc, Mutex};
use unpick::thread;

/// Adds to both numbers; how often it had to begin again.
fn both(first: &Mutex<usize>, second: &Mutex<usize>) -> usize {
    let mut again = 0;
    loop {
        let mut one = first.lock().unwrap();
        if let Ok(mut other) = second.try_lock() {
            *one += 1;
            *other += 1;
            return again;
        }
        again += 1;
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let theirs = locks.clone();
        let other = thread::spawn(move || {
            loop {
                let mut one = theirs.1.lock().unwrap();
                if let Ok(mut other) = theirs.0.try_lock() {
                    *one += 1;
                    *other += 1;
                    return;
                }
            }
        });
        assert!(both(&locks.0, &locks.1) < 5);
        other.join().unwrap();
    }
}
