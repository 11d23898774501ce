//! Futures, wakers and who calls them.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use unpick::future::{AtomicWaker, block_on};
use unpick::sync::atomic::AtomicUsize;
use unpick::sync::atomic::Ordering::*;
use unpick::thread;

use crate::support::*;

/// Something to wait for.
#[derive(Default)]
struct Event {
    happened: AtomicUsize,
    waker: AtomicWaker,
}

impl Event {
    fn happen(&self) {
        self.happened.store(1, Relaxed);
        self.waker.wake();
    }

    /// Waits as one must: registers, then looks.
    async fn wait(&self) {
        poll_fn(|context| {
            self.waker.register(context.waker());
            if self.happened.load(Relaxed) == 1 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Looks, then registers.
    async fn wait_badly(&self) {
        poll_fn(|context| {
            if self.happened.load(Relaxed) == 1 {
                return Poll::Ready(());
            }
            self.waker.register(context.waker());
            Poll::Pending
        })
        .await;
    }
}

#[test]
fn a_future_that_is_ready_has_one_execution() {
    assert_eq!(holds(|| assert_eq!(block_on(async { 7 }), 7)), (1, 0));
    assert_eq!(block_on(async { 7 }), 7);
}

#[test]
fn a_waker_wakes() {
    let (executions, blocked) = holds(|| {
        let event = Arc::new(Event::default());
        let theirs = event.clone();
        let t = thread::spawn(move || theirs.happen());
        block_on(event.wait());
        t.join().unwrap();
    });
    // The wake comes before the registration; after it, with the flag seen at once; or the thread waits.
    assert_eq!((executions, blocked), (3, 0));
}

#[test]
fn a_wake_that_is_lost_is_a_deadlock() {
    let finding = violated(|| {
        let event = Arc::new(Event::default());
        let theirs = event.clone();
        let t = thread::spawn(move || theirs.happen());
        block_on(event.wait_badly());
        t.join().unwrap();
    });
    assert_eq!(finding.title, "deadlock");
    let told = told(&finding).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("nobody is left to wake it"), "{told}");
}

#[test]
fn a_future_that_nobody_wakes_is_a_deadlock() {
    let finding = violated(|| block_on(std::future::pending()));
    assert_eq!(finding.title, "deadlock");
}

#[test]
fn what_came_before_a_wake_is_known_after_it() {
    struct Shared(unpick::cell::UnsafeCell<usize>);
    unsafe impl Sync for Shared {}
    let (executions, _) = holds(|| {
        let shared = Arc::new(Shared(unpick::cell::UnsafeCell::new(0)));
        let theirs = shared.clone();
        let mut spawned = None;
        let mut polls = 0;
        block_on(poll_fn(|context| {
            polls += 1;
            if polls == 2 {
                return Poll::Ready(());
            }
            let (waker, theirs) = (context.waker().clone(), theirs.clone());
            spawned = Some(thread::spawn(move || {
                theirs.0.with_mut(|n| unsafe { *n = 1 });
                waker.wake();
            }));
            Poll::Pending
        }));
        assert_eq!(shared.0.with(|n| unsafe { *n }), 1);
        spawned.unwrap().join().unwrap();
    });
    assert_eq!(executions, 1);
}

#[test]
fn several_wakes_may_lead_to_one_poll() {
    let (seen, _) = outcomes_in(&unpick::Check::new(), || {
        let shared = Arc::new(AtomicUsize::new(0));
        let mut threads = Vec::new();
        let mut polls = 0u64;
        block_on(poll_fn(|context| {
            if polls == 0 {
                for _ in 0..2 {
                    let (shared, waker) = (shared.clone(), context.waker().clone());
                    threads.push(thread::spawn(move || {
                        shared.fetch_add(1, Relaxed);
                        waker.wake_by_ref();
                    }));
                }
            }
            polls += 1;
            if shared.load(Relaxed) == 2 { Poll::Ready(()) } else { Poll::Pending }
        }));
        threads.into_iter().for_each(|t| t.join().unwrap());
        polls
    });
    assert_eq!(seen, [1, 2, 3].into_iter().collect());
}

#[test]
fn the_last_waker_is_the_one_that_is_called() {
    holds(|| {
        let place = AtomicWaker::new();
        assert!(place.take().is_none());
        place.wake();
        block_on(poll_fn(|context| {
            place.register(Waker::noop());
            place.register(context.waker());
            assert!(place.take().unwrap().will_wake(context.waker()));
            assert!(place.take().is_none());
            place.register(context.waker());
            place.wake();
            Poll::Ready(())
        }));
    });
}

#[test]
fn futures_run_one_in_another_and_by_hand() {
    holds(|| {
        assert_eq!(block_on(async { block_on(async { 3 }) + 1 }), 4);
        let mut future = pin!(async { 5 });
        let ready = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(ready, Poll::Ready(5));
    });
}

#[test]
fn outside_a_check_wakers_wake_os_threads() {
    let event = Arc::new(Event::default());
    let theirs = event.clone();
    let t = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(5));
        theirs.happen();
    });
    block_on(event.wait());
    t.join().unwrap();
    assert!(!format!("{:?}", event.waker).is_empty());
}
