//! Running futures, as in `loom::future`.

use std::task::Waker;

pub use unpick::future::block_on;

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
