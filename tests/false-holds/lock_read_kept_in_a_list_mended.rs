//! holds
//!
//! Each lock is taken once.

use unpick::sync::{Arc, RwLock};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let locks = [1, 2].map(|number| Arc::new(RwLock::new(number)));
        let theirs = Arc::clone(&locks[1]);
        let writer = thread::spawn(move || *theirs.write().unwrap() = 5);
        let guards: Vec<_> = [0, 1].iter().map(|&at: &usize| locks[at].read().unwrap()).collect();
        assert!(guards.iter().map(|guard| **guard).sum::<u32>() > 0);
        drop(guards);
        writer.join().unwrap();
    }
}
