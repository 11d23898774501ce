//! holds
//!
//! Each round looks into a locked queue, then at a flag.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::{Acquire, Release};

use unpick::sync::atomic::AtomicBool;
use unpick::sync::{Arc, Mutex};
use unpick::thread;

pub(crate) fn program() -> impl Fn() + Send + Sync + 'static {
    || {
        let shared = Arc::new((Mutex::new(VecDeque::new()), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.0.lock().unwrap().push_back(1);
            theirs.1.store(true, Release);
        });
        let mut sum = 0;
        loop {
            let done = shared.1.load(Acquire);
            let next = shared.0.lock().unwrap().pop_front();
            match next {
                Some(number) => sum += number,
                None if done => break,
                None => {}
            }
        }
        assert_eq!(sum, 1);
        other.join().unwrap();
    }
}
