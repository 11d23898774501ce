//! violated: deadlock
//!
//! A function that keeps its guard calls itself.

use unpick::sync::{Arc, RwLock};
use unpick::thread;

fn depth(lock: &RwLock<u32>, levels: u32) -> u32 {
    let guard = lock.read().unwrap();
    if levels == 0 { *guard } else { depth(lock, levels - 1) + 1 }
}

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let lock = Arc::new(RwLock::new(1));
        let theirs = Arc::clone(&lock);
        let writer = thread::spawn(move || *theirs.write().unwrap() += 1);
        assert!(depth(&lock, 2) >= 2);
        writer.join().unwrap();
    }
}
