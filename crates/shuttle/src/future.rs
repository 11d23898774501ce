//! Tasks: futures that run as threads of the test.
//!
//! A panic in a task fails the test, whoever awaits the task. A task whose handle was dropped need not end.

pub mod batch_semaphore;

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use unpick::future as checked;
use unpick::stand_in;

use crate::context;
use crate::current::{TaskId, me};
use crate::thread::failing;

/// Why a task has no result.
#[derive(Debug)]
pub enum JoinError {
    /// The task was aborted.
    Cancelled,
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("task was cancelled")
    }
}

impl std::error::Error for JoinError {}

/// A task that can be waited for, by awaiting the handle. Dropping it lets the task run on.
#[derive(Debug)]
pub struct JoinHandle<T>(checked::JoinHandle<T>);

impl<T> JoinHandle<T> {
    #[track_caller]
    fn new(handle: checked::JoinHandle<T>) -> JoinHandle<T> {
        if let Some(number) = handle.number() {
            context::inherit(me(), TaskId::from(number as usize));
        }
        context::silent_step();
        JoinHandle(handle)
    }

    /// Asks the task to end: its future is dropped instead of being polled again.
    #[track_caller]
    pub fn abort(&self) {
        self.0.abort();
    }

    /// Whether the task has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// A handle that can only abort the task.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(self.0.abort_handle())
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Some(number) = self.0.number() {
            stand_in::detach(number);
        }
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // A task that panics ends the execution, so there is no other error.
        Pin::new(&mut self.0).poll(context).map(|result| result.map_err(|_| JoinError::Cancelled))
    }
}

/// A handle that can only abort a task.
#[derive(Clone, Debug)]
pub struct AbortHandle(checked::AbortHandle);

impl AbortHandle {
    /// Asks the task to end, as [`JoinHandle::abort`] does.
    #[track_caller]
    pub fn abort(&self) {
        self.0.abort();
    }

    /// Whether the task has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}

/// A future whose panics, and those of its destructor, fail the test. Others may run whenever it is not ready.
struct Failing<F> {
    future: Option<Pin<Box<F>>>,
}

impl<F> Failing<F> {
    fn new(future: F) -> Failing<F> {
        Failing { future: Some(Box::pin(future)) }
    }
}

impl<F: Future> Future for Failing<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, waking: &mut Context<'_>) -> Poll<F::Output> {
        let future = self.future.as_mut().expect("the future is there until it is dropped");
        let polled = failing(|| future.as_mut().poll(waking));
        match &polled {
            Poll::Ready(_) if stand_in::in_check() => context::end(me()),
            _ => context::step(),
        }
        polled
    }
}

impl<F> Drop for Failing<F> {
    fn drop(&mut self) {
        let future = self.future.take();
        failing(|| drop(future));
    }
}

/// Starts a task.
///
/// # Panics
///
/// Outside a check.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    assert!(stand_in::in_check(), "tasks of Shuttle run inside a check only");
    JoinHandle::new(stand_in::spawn_after(context::silent_step, Failing::new(future)))
}

/// Starts a task whose future cannot be sent to another thread.
///
/// # Panics
///
/// Outside a check.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    assert!(stand_in::in_check(), "tasks of Shuttle run inside a check only");
    JoinHandle::new(stand_in::spawn_after(context::silent_step, Failing::new(future)))
}

/// Runs a future on the calling thread until it is ready.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    checked::block_on(poll_fn(|waking| {
        let polled = future.as_mut().poll(waking);
        if polled.is_pending() {
            context::step();
        }
        polled
    }))
}

/// Lets other tasks run first.
pub async fn yield_now() {
    context::request_yield();
    checked::yield_now().await;
}
