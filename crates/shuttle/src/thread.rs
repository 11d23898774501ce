//! Threads, as in [`std::thread`].
//!
//! A panic in a thread fails the test, whoever joins the thread.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use unpick::stand_in;
use unpick::thread as checked;

use crate::context;
use crate::current::{TaskId, TaskName, me, set_name_for_task};

pub use unpick::thread::{AccessError, LocalKey, Result, panicking};

/// What tells a thread from all others.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(TaskId);

impl From<ThreadId> for usize {
    fn from(id: ThreadId) -> usize {
        id.0.into()
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadId").field("task_id", &self.0).finish()
    }
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    thread: checked::Thread,
    id: ThreadId,
}

impl Thread {
    fn new(thread: checked::Thread) -> Thread {
        let number = thread.id().number().expect("a thread of a check has a number");
        Thread { thread, id: ThreadId(TaskId::from(number as usize)) }
    }

    /// The name that a [`Builder`] gave it; that of the main thread is `main-thread`.
    pub fn name(&self) -> Option<&str> {
        if usize::from(self.id) == 0 { Some("main-thread") } else { self.thread.name() }
    }

    /// The thread's identity.
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// Gives the thread a token, with which its next [`park`] returns.
    #[track_caller]
    pub fn unpark(&self) {
        self.thread.unpark();
    }
}

/// Runs the body of a thread or a poll: a panic that leaves it fails the test.
pub(crate) fn failing<T>(f: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(value) => value,
        Err(payload) if stand_in::in_check() => stand_in::fail(&*payload),
        Err(payload) => std::panic::resume_unwind(payload),
    }
}

/// The body of a thread, which others may get ahead of from the start.
fn run<T>(f: impl FnOnce() -> T) -> T {
    context::silent_step();
    failing(f)
}

/// A thread was spawned.
fn begin(thread: &checked::Thread) -> Thread {
    let thread = Thread::new(thread.clone());
    context::inherit(me(), thread.id.0);
    thread
}

/// A handle to a thread. Dropping it lets the thread run on.
pub struct JoinHandle<T> {
    handle: checked::JoinHandle<T>,
    thread: Thread,
}

impl<T> JoinHandle<T> {
    /// Waits for the thread, and returns its result.
    ///
    /// # Errors
    ///
    /// Never: a thread that panics fails the test.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.handle.join()
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("thread", &self.thread).finish_non_exhaustive()
    }
}

/// Starts a thread.
///
/// # Panics
///
/// Outside a check.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("threads of a check are always to be had")
}

/// Settings of a thread to be started.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// A thread without a name.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// The name of the thread.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// The size of its stack. All stacks have the size that [`Config`](crate::Config) says.
    pub fn stack_size(self, _size: usize) -> Builder {
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// Never.
    ///
    /// # Panics
    ///
    /// Outside a check.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        assert!(stand_in::in_check(), "threads of Shuttle run inside a check only");
        let label = self.name.as_deref().map(TaskName::from);
        let builder = self.name.into_iter().fold(checked::Builder::new(), checked::Builder::name);
        let handle = builder.spawn(move || run(f))?;
        let thread = begin(handle.thread());
        if let Some(label) = label {
            set_name_for_task(thread.id.0, label);
        }
        context::silent_step();
        Ok(JoinHandle { handle, thread })
    }
}

/// Threads that end before the scope does.
pub struct Scope<'scope, 'env: 'scope>(&'scope checked::Scope<'scope, 'env>);

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread of the scope.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let handle = self.0.spawn(move || run(f));
        let thread = begin(handle.thread());
        context::silent_step();
        ScopedJoinHandle { handle, thread }
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// A handle to a thread of a scope.
pub struct ScopedJoinHandle<'scope, T> {
    handle: checked::ScopedJoinHandle<'scope, T>,
    thread: Thread,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the thread, and returns its result.
    ///
    /// # Errors
    ///
    /// Never: a thread that panics fails the test.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.handle.join()
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Whether the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").field("thread", &self.thread).finish_non_exhaustive()
    }
}

/// Runs `f`, and waits for the threads that it spawns in the scope.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    // The scope lives as long as its threads may, so it cannot be on this stack; it is two words.
    checked::scope(|scope| f(Box::leak(Box::new(Scope(scope)))))
}

/// Lets other threads run first.
///
/// # Panics
///
/// Outside a check.
#[track_caller]
pub fn yield_now() {
    context::request_yield();
    context::step();
}

/// Lets other threads run. Time does not pass.
#[track_caller]
pub fn sleep(duration: Duration) {
    context::step();
    checked::sleep(duration);
}

/// The calling thread.
pub fn current() -> Thread {
    Thread::new(checked::current())
}

/// Waits for a token, which [`Thread::unpark`] gives.
#[track_caller]
pub fn park() {
    checked::park();
}

/// As [`park`]. The time is never over.
#[track_caller]
pub fn park_timeout(_: Duration) {
    park();
}
