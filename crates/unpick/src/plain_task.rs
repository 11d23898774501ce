//! Tasks: what they are without checks, and outside one. Each runs on an OS thread of its own.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

/// Why a task has no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum JoinError {
    /// The task was aborted.
    Cancelled,
    /// The task panicked, with this value.
    Panicked(Box<dyn Any + Send>),
}

impl JoinError {
    /// Whether the task was aborted.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, JoinError::Cancelled)
    }

    /// Whether the task panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self, JoinError::Panicked(_))
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JoinError::Cancelled => "the task was aborted",
            JoinError::Panicked(_) => "the task panicked",
        })
    }
}

// The value that a task panicked with is only ever moved.
impl std::error::Error for JoinError {}

/// Wakes the OS thread that runs a task.
#[derive(Debug, Default)]
struct Signal {
    thread: OnceLock<Thread>,
    woken: AtomicBool,
    aborted: AtomicBool,
    ended: AtomicBool,
}

impl Signal {
    fn wait(&self) {
        while !self.woken.swap(false, Ordering::Acquire) {
            std::thread::park();
        }
    }

    fn abort(&self) {
        self.aborted.store(true, Ordering::Release);
        self.send();
    }

    fn send(&self) {
        self.woken.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Signal>) {
        self.send();
    }
}

/// What a task leaves behind, and who waits for it.
#[derive(Debug)]
struct Packet<T> {
    result: Option<Result<T, JoinError>>,
    waker: Option<Waker>,
}

fn locked<T>(packet: &Mutex<Packet<T>>) -> MutexGuard<'_, Packet<T>> {
    packet.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A task that can be waited for, by awaiting the handle. Dropping it detaches the task.
#[derive(Debug)]
pub struct JoinHandle<T> {
    packet: Arc<Mutex<Packet<T>>>,
    signal: Arc<Signal>,
}

impl<T> JoinHandle<T> {
    /// Asks the task to end: its future is dropped instead of being polled again.
    pub fn abort(&self) {
        self.signal.abort();
    }

    /// A handle that can only abort the task.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(Arc::clone(&self.signal))
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.signal.ended.load(Ordering::Acquire)
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut packet = locked(&self.packet);
        if let Some(result) = packet.result.take() {
            return Poll::Ready(result);
        }
        packet.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

/// A handle that can only abort a task.
#[derive(Clone, Debug)]
pub struct AbortHandle(Arc<Signal>);

impl AbortHandle {
    /// Asks the task to end, as [`JoinHandle::abort`] does.
    pub fn abort(&self) {
        self.0.abort();
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.0.ended.load(Ordering::Acquire)
    }
}

/// Starts a task: a thread that runs a future.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let packet = Arc::new(Mutex::new(Packet { result: None, waker: None }));
    let signal = Arc::new(Signal::default());
    let handle = JoinHandle { packet: Arc::clone(&packet), signal: Arc::clone(&signal) };
    std::thread::spawn(move || {
        // Whoever wakes the task before this is seen by the first look at `woken`.
        let _ = signal.thread.set(std::thread::current());
        let result = drive(future, &signal);
        let waker = {
            let mut packet = locked(&packet);
            packet.result = Some(result);
            packet.waker.take()
        };
        signal.ended.store(true, Ordering::Release);
        waker.into_iter().for_each(Waker::wake);
    });
    handle
}

fn drive<F: Future>(future: F, signal: &Arc<Signal>) -> Result<F::Output, JoinError> {
    let waker = Waker::from(Arc::clone(signal));
    let mut future = Box::pin(future);
    let run = AssertUnwindSafe(|| {
        loop {
            if signal.aborted.load(Ordering::Acquire) {
                return Err(JoinError::Cancelled);
            }
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Ok(output);
            }
            signal.wait();
        }
    });
    let result = catch_unwind(run).unwrap_or_else(|payload| Err(JoinError::Panicked(payload)));
    match catch_unwind(AssertUnwindSafe(|| drop(future))) {
        Ok(()) => result,
        Err(payload) => Err(JoinError::Panicked(payload)),
    }
}

/// Lets other tasks of the same thread run first: pending once.
#[derive(Debug, Default)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct YieldNow(bool);

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Lets other tasks run first: the task is polled again at once.
pub fn yield_now() -> YieldNow {
    YieldNow::default()
}
