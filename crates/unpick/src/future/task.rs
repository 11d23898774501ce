//! Tasks: futures that run as threads of the program under test.
//!
//! A task is a thread that polls its future, and waits for its waker in between. What it leaves
//! behind, and who waits for that, is guarded by one location: the *state*. The waker in it belongs to
//! the handle until the handle has said that it is watching, and to the end of the task then. Whoever
//! is the last of task and handle drops the result.

use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::mem::needs_drop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, RawWakerVTable, Waker};

use unpick_core::op::{Addr, Mode, Op, Rmw, Site, ThreadId, Value};
use unpick_runtime::facts::{self, Fact};
use unpick_runtime::ops::{self, Object};
use unpick_runtime::{Tag, panics};

use super::Signal;
use crate::here;
use crate::plain_task as outside;
use crate::thread::start;

pub use crate::plain_task::{JoinError, YieldNow, yield_now};

/// The task runs, and nobody watches.
const RUNS: Value = 0;
/// The task runs, and a waker is there for its end.
const WATCHED: Value = 1;
/// The task runs, and its handle was dropped.
const DETACHED: Value = 2;
/// The task has ended.
const ENDED: Value = 3;

/// What task and handles share, whatever the result is.
struct Shared {
    state: Tag,
    abort: Tag,
    signal: Arc<Signal>,
    /// Where the task was spawned.
    site: Site,
}

impl Shared {
    fn on_state(&self, op: Op) -> Value {
        ops::on_object(Object::new(&self.state, "JoinHandle"), RUNS, Op { width: 1, ..op })
    }

    fn on_abort(&self, op: Op) -> Value {
        ops::on_object(Object::new(&self.abort, "JoinHandle"), 0, Op { width: 1, ..op })
    }

    fn abort(&self, site: Site) {
        facts::learn(Fact::TasksAreAborted, 1);
        self.on_abort(Op::store(Addr::NONE, Mode::Release, 1, site));
        self.signal.send(site);
    }

    /// Whether the task is to end instead of polling its future once more.
    fn is_aborted(&self) -> bool {
        facts::fact(Fact::TasksAreAborted) != 0
            && self.on_abort(Op::load(Addr::NONE, Mode::Acquire, self.site)) != 0
    }

    fn has_ended(&self, site: Site) -> bool {
        self.on_state(Op::load(Addr::NONE, Mode::Acquire, site)) == ENDED
    }

    fn exchange(&self, expected: Value, new: Value, site: Site) -> Value {
        let modes = (Mode::AcqRel, Mode::Acquire);
        self.on_state(Op::cas(Addr::NONE, modes, expected, new, false, site))
    }

    fn swap(&self, new: Value, site: Site) -> Value {
        self.on_state(Op::rmw(Addr::NONE, Rmw::Swap, Mode::AcqRel, new, site))
    }
}

/// What a task leaves behind.
struct Packet<T> {
    shared: Rc<Shared>,
    waker: UnsafeCell<Option<Waker>>,
    result: UnsafeCell<Option<Result<T, JoinError>>>,
}

impl<T> Packet<T> {
    /// # Safety
    ///
    /// The state says that the waker is the caller's.
    unsafe fn waker(&self) -> Option<Waker> {
        // SAFETY: as the caller promises; only one thread runs at a time.
        unsafe { (*self.waker.get()).take() }
    }

    /// # Safety
    ///
    /// The state says that the result is the caller's.
    unsafe fn result(&self) -> Option<Result<T, JoinError>> {
        // SAFETY: as the caller promises; only one thread runs at a time.
        unsafe { (*self.result.get()).take() }
    }

    /// Publishes the result, at the end of the task.
    fn finish(&self, result: Result<T, JoinError>) {
        // SAFETY: nobody looks at the result before the task has ended.
        unsafe { *self.result.get() = Some(result) };
        match self.shared.swap(ENDED, self.shared.site) {
            // SAFETY: the handle has said that it watches, and given the waker away.
            WATCHED => unsafe { self.waker() }.into_iter().for_each(Waker::wake),
            // SAFETY: there is no handle any more.
            DETACHED => drop(unsafe { self.result() }),
            _ => {}
        }
    }
}

/// A task under test that can be waited for.
struct Checked<T> {
    packet: Rc<Packet<T>>,
    thread: ThreadId,
    /// Whether there is a waker of ours.
    watches: bool,
    /// What the last waker consists of, which may be gone: only whoever still watches compares with it.
    last: (*const (), *const RawWakerVTable),
    taken: bool,
}

impl<T> Checked<T> {
    fn poll(&mut self, waker: &Waker, site: Site) -> Poll<Result<T, JoinError>> {
        let shared = &*self.packet.shared;
        assert!(!self.taken, "a `JoinHandle` was polled after it was ready");
        let parts = (waker.data(), std::ptr::from_ref(waker.vtable()));
        if self.watches && self.last == parts {
            if !shared.has_ended(site) {
                return Poll::Pending;
            }
            return Poll::Ready(self.take());
        }
        if self.watches && shared.exchange(WATCHED, RUNS, site) == ENDED {
            return Poll::Ready(self.take());
        }
        self.watches = false;
        let new = waker.clone();
        self.last = (new.data(), std::ptr::from_ref(new.vtable()));
        // SAFETY: the state says that nobody watches, so the waker is ours.
        let old = unsafe { (*self.packet.waker.get()).replace(new) };
        drop(old);
        if shared.exchange(RUNS, WATCHED, site) == RUNS {
            self.watches = true;
            return Poll::Pending;
        }
        // SAFETY: the task ended before the waker was given away.
        drop(unsafe { self.packet.waker() });
        Poll::Ready(self.take())
    }

    /// The result of the task, which has ended.
    fn take(&mut self) -> Result<T, JoinError> {
        self.taken = true;
        self.watches = false;
        // SAFETY: the task has ended, and results are taken once.
        let result = unsafe { self.packet.result() };
        let result = result.unwrap_or(Err(JoinError::Cancelled));
        if matches!(result, Err(JoinError::Panicked(_))) {
            panics::handle(self.thread);
        }
        result
    }
}

impl<T> Drop for Checked<T> {
    fn drop(&mut self) {
        // Nobody can tell when a result without a destructor is dropped.
        let told = (needs_drop::<T>() || self.watches) && !self.taken;
        if !told || !ops::in_check() {
            return;
        }
        // A task that has ended stays so, for those who ask.
        let expected = if self.watches { WATCHED } else { RUNS };
        match self.packet.shared.exchange(expected, DETACHED, self.packet.shared.site) {
            // SAFETY: the task has ended, and nobody else has a handle.
            ENDED => drop(unsafe { self.packet.result() }),
            // SAFETY: the task sees that there is no handle, and leaves the waker alone.
            WATCHED => drop(unsafe { self.packet.waker() }),
            _ => {}
        }
    }
}

enum Inner<T> {
    Checked(Checked<T>),
    Outside(outside::JoinHandle<T>),
}

/// A task that can be waited for, by awaiting the handle.
///
/// Dropping it detaches the task, which runs on; [`abort`](JoinHandle::abort) ends it. A task must end, as
/// a thread must: one that waits for ever is a violation, unless
/// [`Check::detached`](crate::Check::detached) says otherwise. A panic of a task whose result nobody
/// looks at is a violation too.
pub struct JoinHandle<T>(Inner<T>);

// SAFETY: all threads under test run on one OS thread; outside, the handle is made of what can be sent.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: as above; a shared handle gives no access to the result.
unsafe impl<T> Sync for JoinHandle<T> {}
impl<T> Unpin for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// Asks the task to end: its future is dropped instead of being polled again. A task that ends before
    /// it hears of this has its ordinary result.
    #[track_caller]
    pub fn abort(&self) {
        match &self.0 {
            Inner::Checked(task) => task.packet.shared.abort(here!()),
            Inner::Outside(task) => task.abort(),
        }
    }

    /// A handle that can only abort the task.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(match &self.0 {
            Inner::Checked(task) => Aborting::Checked(Rc::clone(&task.packet.shared)),
            Inner::Outside(task) => Aborting::Outside(task.abort_handle()),
        })
    }

    /// The number of the task's thread inside a check, as that of a `ThreadId`.
    #[doc(hidden)]
    pub fn number(&self) -> Option<u32> {
        match &self.0 {
            Inner::Checked(task) => Some(ops::name_of(task.thread)),
            Inner::Outside(_) => None,
        }
    }

    /// Whether the task has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Inner::Checked(task) => task.packet.shared.has_ended(here!()),
            Inner::Outside(task) => task.is_finished(),
        }
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Inner::Checked(task) => task.poll(context.waker(), here!()),
            Inner::Outside(task) => Pin::new(task).poll(context),
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

#[derive(Clone)]
enum Aborting {
    Checked(Rc<Shared>),
    Outside(outside::AbortHandle),
}

/// A handle that can only abort a task.
#[derive(Clone)]
pub struct AbortHandle(Aborting);

// SAFETY: as for `JoinHandle`.
unsafe impl Send for AbortHandle {}
// SAFETY: as for `JoinHandle`.
unsafe impl Sync for AbortHandle {}

impl AbortHandle {
    /// Asks the task to end, as [`JoinHandle::abort`] does.
    #[track_caller]
    pub fn abort(&self) {
        match &self.0 {
            Aborting::Checked(shared) => shared.abort(here!()),
            Aborting::Outside(task) => task.abort(),
        }
    }

    /// Whether the task has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Aborting::Checked(shared) => shared.has_ended(here!()),
            Aborting::Outside(task) => task.is_finished(),
        }
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").finish_non_exhaustive()
    }
}

/// Starts a task: a thread of the program under test that runs a future.
///
/// The future is polled once, and then once for each time that it was woken, or several times between
/// two polls. If it is pending and nobody is left to wake it, that is a deadlock, and the report says
/// where it was last polled. Thread-locals are those of the task.
///
/// ```
/// use unpick::future::{block_on, spawn};
///
/// unpick::check(|| {
///     let sum = block_on(async {
///         let [one, two] = [1, 2].map(|number| spawn(async move { number }));
///         one.await.unwrap() + two.await.unwrap()
///     });
///     assert_eq!(sum, 3);
/// });
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    if !ops::in_check() {
        return JoinHandle(Inner::Outside(outside::spawn(future)));
    }
    JoinHandle(Inner::Checked(begin(|| (), future, here!())))
}

/// As [`spawn`], for a future that cannot be sent to another thread. It runs inside a check only, where
/// all threads of the program are on one OS thread.
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
    assert!(
        ops::in_check(),
        "`spawn_local` is for code inside a check; `block_on` runs such a future anywhere"
    );
    JoinHandle(Inner::Checked(begin(|| (), future, here!())))
}

/// As [`spawn_local`], with something that the task does at its start, before it looks whether it was aborted.
#[track_caller]
pub(crate) fn spawn_after<F>(start: impl FnOnce() + 'static, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    JoinHandle(Inner::Checked(begin(start, future, here!())))
}

fn begin<F>(first: impl FnOnce() + 'static, future: F, site: Site) -> Checked<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let signal = Arc::new(Signal::new(site));
    let packet = unpick_runtime::untracked(|| {
        let shared = Rc::new(Shared { state: Tag::new(), abort: Tag::new(), signal, site });
        Rc::new(Packet { shared, waker: UnsafeCell::new(None), result: UnsafeCell::new(None) })
    });
    let theirs = Rc::clone(&packet);
    let body = move || {
        first();
        run(future, &theirs);
    };
    let thread = start(None, body, site).number();
    let last = (std::ptr::null(), std::ptr::null());
    Checked { packet, thread, watches: false, last, taken: false }
}

/// Runs the future of a task, in its thread.
fn run<F: Future>(future: F, packet: &Packet<F::Output>) {
    let shared = &*packet.shared;
    let mut future = Box::pin(future);
    let drive = AssertUnwindSafe(|| {
        let waker = Waker::from(Arc::clone(&shared.signal));
        let mut context = Context::from_waker(&waker);
        loop {
            if shared.is_aborted() {
                return Err(JoinError::Cancelled);
            }
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return Ok(output);
            }
            shared.signal.wait();
        }
    });
    let result = catch_unwind(drive).unwrap_or_else(|payload| Err(panicked(payload)));
    // Its destructor is the task's too.
    let result = match catch_unwind(AssertUnwindSafe(|| drop(future))) {
        Ok(()) => result,
        Err(payload) => Err(panicked(payload)),
    };
    packet.finish(result);
}

fn panicked(payload: Box<dyn std::any::Any + Send>) -> JoinError {
    panics::escape(&*payload);
    JoinError::Panicked(payload)
}
