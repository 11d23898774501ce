//! The loom tests.

#![cfg(loom)]

use std::future::poll_fn;
use std::panic::catch_unwind;
use std::task::Poll;

use loom::future::{AtomicWaker, block_on};
use loom::sync::Arc;
use loom::thread;
use loom_suite::Slot;

#[test]
fn a_value_arrives_once() {
    loom::model(|| {
        let slot = Arc::new(Slot::new());
        let takers: Vec<_> = (0..2)
            .map(|_| {
                let slot = slot.clone();
                thread::spawn(move || slot.take())
            })
            .collect();
        slot.put(Box::new(7)).unwrap();
        let taken: Vec<_> = takers.into_iter().filter_map(|taker| taker.join().unwrap()).collect();
        assert!(taken.len() <= 1 && taken.iter().all(|value| **value == 7));
        assert_eq!(slot.take().is_none(), taken.len() == 1);
    });
}

#[test]
fn one_of_two_values_stays() {
    loom::model(|| {
        let slot = Arc::new(Slot::new());
        let theirs = slot.clone();
        let other = thread::spawn(move || theirs.put(1).is_ok());
        let ours = slot.put(2).is_ok();
        assert!(other.join().unwrap() != ours);
        assert_eq!(slot.take(), Some(if ours { 2 } else { 1 }));
    });
}

#[test]
fn a_value_is_awaited() {
    loom::model(|| {
        let shared = Arc::new((Slot::new(), AtomicWaker::new()));
        let theirs = shared.clone();
        thread::spawn(move || {
            theirs.0.put(5).unwrap();
            theirs.1.wake();
        });
        let value = block_on(poll_fn(|context| {
            shared.1.register_by_ref(context.waker());
            shared.0.take().map_or(Poll::Pending, Poll::Ready)
        }));
        assert_eq!(value, 5);
    });
}

#[test]
fn a_careless_announcement_is_found() {
    let found = catch_unwind(|| {
        loom::model(|| {
            let slot = Arc::new(Slot::careless());
            let theirs = slot.clone();
            let other = thread::spawn(move || theirs.put(1).is_ok());
            slot.take();
            other.join().unwrap();
        });
    });
    assert!(found.is_err());
}
