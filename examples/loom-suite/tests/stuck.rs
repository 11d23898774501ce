//! Threads that wait for ever. loom finds them too, but its panic meets destructors that panic again, and the
//! process ends; so these tests are run on unpick only.

#![cfg(loom)]

use std::future::poll_fn;
use std::panic::catch_unwind;
use std::task::Poll;

use loom::future::{AtomicWaker, block_on};
use loom::sync::{Arc, Mutex};
use loom::thread;
use loom_suite::Slot;

#[test]
fn a_waker_that_comes_late_is_found() {
    let found = catch_unwind(|| {
        loom::model(|| {
            let shared = Arc::new((Slot::new(), AtomicWaker::new()));
            let theirs = shared.clone();
            thread::spawn(move || {
                theirs.0.put(5).unwrap();
                theirs.1.wake();
            });
            block_on(poll_fn(|context| {
                // The mistake: looks first, and registers after that.
                let value = shared.0.take();
                shared.1.register_by_ref(context.waker());
                value.map_or(Poll::Pending, Poll::Ready)
            }));
        });
    });
    assert!(found.is_err());
}

#[test]
fn locks_that_wait_for_each_other_are_found() {
    let found = catch_unwind(|| {
        loom::model(|| {
            let locks = Arc::new((Mutex::new(1), Mutex::new(2)));
            let theirs = locks.clone();
            let other = thread::spawn(move || *theirs.1.lock().unwrap() + *theirs.0.lock().unwrap());
            let sum = *locks.0.lock().unwrap() + *locks.1.lock().unwrap();
            assert_eq!(sum, other.join().unwrap());
        });
    });
    assert!(found.is_err());
}
