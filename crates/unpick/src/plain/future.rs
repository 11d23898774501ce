//! Futures without checks.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

pub use crate::plain_task::{AbortHandle, JoinError, JoinHandle, YieldNow, spawn, yield_now};
pub use std::future::*;

/// Wakes a thread that waits for a future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Unpark>) {
        self.0.unpark();
    }
}

/// Runs a future on the calling thread until it is ready.
///
/// ```
/// assert_eq!(unpick::future::block_on(async { 1 + 1 }), 2);
/// ```
pub fn block_on<F: IntoFuture>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future.into_future());
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// A place for the waker of one task, which others may wake.
///
/// ```
/// use unpick::future::AtomicWaker;
///
/// let waker = AtomicWaker::new();
/// waker.register(std::task::Waker::noop());
/// waker.wake();
/// assert!(waker.take().is_none());
/// ```
#[derive(Debug, Default)]
pub struct AtomicWaker(Mutex<Option<Waker>>);

impl AtomicWaker {
    /// A place with no waker.
    pub const fn new() -> AtomicWaker {
        AtomicWaker(Mutex::new(None))
    }

    fn place(&self) -> MutexGuard<'_, Option<Waker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a waker there, in place of the one before.
    pub fn register(&self, waker: &Waker) {
        let before = self.place().replace(waker.clone());
        drop(before);
    }

    /// Wakes the task, if there is one.
    pub fn wake(&self) {
        if let Some(waker) = self.take() {
            waker.wake();
        }
    }

    /// Takes the waker away.
    pub fn take(&self) -> Option<Waker> {
        self.place().take()
    }
}
