//! holds
//!
//! Two threads take two locks in opposite orders; who does not get the second unlocks the first and begins again.

use unpick::sync::{Arc, Mutex};
use unpick::thread;

/// Adds to both numbers.
fn both(first: &Mutex<usize>, second: &Mutex<usize>) {
    loop {
        let mut one = first.lock().unwrap();
        if let Ok(mut other) = second.try_lock() {
            *one += 1;
            *other += 1;
            return;
        }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let theirs = locks.clone();
        let other = thread::spawn(move || both(&theirs.1, &theirs.0));
        both(&locks.0, &locks.1);
        other.join().unwrap();
        assert_eq!((*locks.0.lock().unwrap(), *locks.1.lock().unwrap()), (2, 2));
    }
}
