//! holds
//!
//! It lets go of the guard before.

use unpick::sync::{Arc, RwLock};
use unpick::thread;

fn depth(lock: &RwLock<u32>, levels: u32) -> u32 {
    let value = *lock.read().unwrap();
    if levels == 0 { value } else { depth(lock, levels - 1) + 1 }
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
