//! violated: livelock
//!
//! Two threads take two locks in opposite orders, and give the first back if they do not get the second. A third one keeps one of the
//! locks for ever.

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
        drop(one);
        let mut one = second.lock().unwrap();
        if let Ok(mut other) = first.try_lock() {
            *one += 1;
            *other += 1;
            return;
        }
    }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let locks = Arc::new([Mutex::new(0), Mutex::new(0), Mutex::new(0)]);
        let theirs = locks.clone();
        let other = thread::spawn(move || both(&theirs[1], &theirs[0]));
        let kept = locks.clone();
        let keeper = thread::spawn(move || std::mem::forget(kept[2].lock().unwrap()));
        keeper.join().unwrap();
        loop {
            let _one = locks[0].lock().unwrap();
            if locks[2].try_lock().is_ok() {
                break;
            }
            drop(_one);
            let _two = locks[1].lock().unwrap();
        }
        other.join().unwrap();
    }
}
