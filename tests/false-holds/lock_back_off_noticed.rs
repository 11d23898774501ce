//! violated: panic
//!
//! Two threads take two locks in opposite orders and back off; a third one finds the first lock taken, free, and taken again.

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
        let theirs = locks.clone();
        let looks = thread::spawn(move || [(); 3].map(|()| theirs.0.try_lock().is_err()));
        both(&locks.0, &locks.1);
        other.join().unwrap();
        assert_ne!(looks.join().unwrap(), [true, false, true]);
    }
}
