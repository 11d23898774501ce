//! Threads, as in `loom::thread`.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::{Mutex, OnceLock};

use unpick_core::op::ThreadId as Number;
use unpick_runtime::ops;

pub use unpick::thread::{AccessError, LocalKey, ThreadId, panicking, park, yield_now};

/// A handle to a thread.
#[derive(Clone)]
pub struct Thread {
    thread: unpick::thread::Thread,
    /// Whether it is the first thread of a model, which has no name.
    first: bool,
}

impl Thread {
    fn of(thread: &unpick::thread::Thread) -> Thread {
        Thread { thread: thread.clone(), first: false }
    }

    /// The thread's identity.
    pub fn id(&self) -> ThreadId {
        self.thread.id()
    }

    /// The name that a [`Builder`] gave it.
    pub fn name(&self) -> Option<&str> {
        self.thread.name().filter(|_| !self.first)
    }

    /// Gives the thread a token, with which its next [`park`] returns.
    #[track_caller]
    pub fn unpark(&self) {
        self.thread.unpark();
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish()
    }
}

/// The calling thread.
pub fn current() -> Thread {
    let first = ops::in_check() && ops::thread() == Number(0);
    Thread { thread: unpick::thread::current(), first }
}

/// What loom lets threads have although it could not be sent to them: inside a check they all run on one OS
/// thread.
struct Sent<T>(T);

// SAFETY: see above; `start` makes sure that there is a check.
unsafe impl<T> Send for Sent<T> {}

/// A handle to a thread that can be waited for.
pub struct JoinHandle<T> {
    handle: unpick::thread::JoinHandle<Sent<T>>,
    thread: OnceLock<Thread>,
    /// The result is shared with the thread, and goes to whoever has the handle.
    result: PhantomData<Mutex<T>>,
}

impl<T> JoinHandle<T> {
    /// Waits for the thread, and returns its result.
    ///
    /// # Errors
    ///
    /// When the thread panicked. With loom a panic ends the model, and nobody sees this.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        self.handle.join().map(|result| result.0)
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        self.thread.get_or_init(|| Thread::of(self.handle.thread()))
    }
}

impl<T: fmt::Debug> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish()
    }
}

/// Starts a thread. As with loom, what it takes and what it returns need not be [`Send`].
///
/// # Panics
///
/// Outside a model.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T,
    F: 'static,
    T: 'static,
{
    match start(unpick::thread::Builder::new(), f) {
        Ok(handle) => handle,
        Err(error) => panic!("the thread could not be started: {error}"),
    }
}

#[track_caller]
fn start<F, T>(builder: unpick::thread::Builder, f: F) -> io::Result<JoinHandle<T>>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    crate::model::assert_inside();
    let f = Sent(f);
    let run = move || {
        let f = f;
        Sent((f.0)())
    };
    let handle = builder.spawn(run)?;
    Ok(JoinHandle { handle, thread: OnceLock::new(), result: PhantomData })
}

/// Settings of a thread to be started.
///
/// Every thread has a stack of 2 MiB, whatever is set here.
#[derive(Debug)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// A thread without a name.
    #[allow(clippy::new_without_default, reason = "loom's has no default either")]
    pub fn new() -> Builder {
        Builder { name: None, stack_size: None }
    }

    /// The name of the thread.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// The size of its stack.
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack_size = Some(size);
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// Never inside a model.
    ///
    /// # Panics
    ///
    /// Outside a model.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T,
        F: Send + 'static,
        T: Send + 'static,
    {
        let builder = unpick::thread::Builder::new();
        let builder = self.name.into_iter().fold(builder, unpick::thread::Builder::name);
        let builder = self.stack_size.into_iter().fold(builder, unpick::thread::Builder::stack_size);
        start(builder, f)
    }
}
