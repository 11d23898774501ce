//! Running futures, as in `loom::future`.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Waker;

use unpick_runtime::ops;

/// Runs a future on the calling thread until it is ready.
///
/// Inside a model the future is polled once, then once for each time that it was woken, or several times
/// between two polls, and once at most without a reason: a future must not take a poll for a wake-up.
#[track_caller]
pub fn block_on<F: Future>(f: F) -> F::Output {
    let mut future = pin!(f);
    let mut may_poll = ops::in_check();
    let site = crate::here!();
    unpick::future::block_on(poll_fn(move |context| {
        let polled = future.as_mut().poll(context);
        if polled.is_pending() && may_poll && ops::whim(site) {
            may_poll = false;
            return future.as_mut().poll(context);
        }
        polled
    }))
}

/// A place where one task leaves its waker and others find it.
///
/// The task calls [`register`](AtomicWaker::register) and *then* looks whether what it waits for has
/// happened; whoever makes it happen calls [`wake`](AtomicWaker::wake) afterwards. The calls take place one
/// after the other, in any order that threads come in.
#[derive(Debug, Default)]
pub struct AtomicWaker(unpick::future::AtomicWaker);

impl AtomicWaker {
    /// A place without a waker.
    pub fn new() -> AtomicWaker {
        AtomicWaker::default()
    }

    /// Leaves a waker, in place of one that was left before.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        self.0.register(&waker);
    }

    /// Leaves a waker, in place of one that was left before.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.0.register(waker);
    }

    /// Takes the waker, if there is one, and calls it.
    #[track_caller]
    pub fn wake(&self) {
        self.0.wake();
    }

    /// Takes the waker, if there is one.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.0.take()
    }
}
