//! Threads, as in [`std::thread`].

use std::any::Any;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use unpick_core::op::ThreadId;
use unpick_runtime::facts::{self, Fact};
use unpick_runtime::{ops, panics};

use crate::here;
use crate::sync::atomic::{AtomicBool, Ordering};

/// What a thread leaves behind: its result, or the value it panicked with.
pub type Result<T> = std::thread::Result<T>;

/// Where a thread puts its result. Threads under test share one OS thread, so counting needs no
/// atomics.
struct Packet<T> {
    result: UnsafeCell<Option<Result<T>>>,
    /// Written when the thread ends, if anybody looks.
    ended: AtomicBool,
}

impl<T> Packet<T> {
    /// An empty packet, made in place: building it on the stack and moving it shows in profiles.
    fn new() -> Rc<Packet<T>> {
        let mut packet = unpick_runtime::untracked(Rc::<Packet<T>>::new_uninit);
        // SAFETY: the packet is not shared yet, and both fields are written before it is used.
        unsafe {
            let place = Rc::get_mut(&mut packet).unwrap_unchecked().as_mut_ptr();
            (&raw mut (*place).result).write(UnsafeCell::new(None));
            (&raw mut (*place).ended).write(AtomicBool::new(false));
            packet.assume_init()
        }
    }

    /// Whether the thread has ended, as far as the caller can know.
    #[track_caller]
    fn has_ended(&self) -> bool {
        facts::learn(Fact::EndsAreWatched, 1);
        self.ended.load(Ordering::Acquire)
    }
}

/// A thread that can be waited for.
enum Inner<T> {
    Checked { thread: ThreadId, packet: Rc<Packet<T>> },
    Outside(std::thread::JoinHandle<T>),
}

/// A handle to a thread, as [`std::thread::JoinHandle`].
pub struct JoinHandle<T>(Inner<T>);

// SAFETY: the packet is written by the thread before it ends and read after it was joined; all
// threads under test run on one OS thread.
unsafe impl<T> Send for JoinHandle<T> {}
// SAFETY: as above; a shared handle gives no access to the packet's result.
unsafe impl<T> Sync for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// Waits for the thread, and returns its result.
    ///
    /// # Errors
    ///
    /// When the thread panicked.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            Inner::Checked { thread, packet } => {
                ops::join(thread, here!());
                collect(thread, &packet)
            }
            Inner::Outside(handle) => handle.join(),
        }
    }

    /// Whether the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Inner::Checked { packet, .. } => packet.has_ended(),
            Inner::Outside(handle) => handle.is_finished(),
        }
    }
}

impl<T> std::fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// Starts a thread.
///
/// Inside a check the thread is one of the program under test. It must end: one that waits for
/// ever is a violation, joined or not.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    if !ops::in_check() {
        return JoinHandle(Inner::Outside(std::thread::spawn(f)));
    }
    let (job, packet) = package(f);
    JoinHandle(Inner::Checked { thread: ops::spawn(job, here!()), packet })
}

/// Lets other threads run first. Inside a check they do anyway.
pub fn yield_now() {
    if !ops::in_check() {
        std::thread::yield_now();
    }
}

/// Wraps a closure so that it leaves its result in a packet.
fn package<'a, F, T>(f: F) -> (Box<dyn FnOnce() + 'static>, Rc<Packet<T>>)
where
    F: FnOnce() -> T + 'a,
    T: 'a,
{
    let packet = Packet::new();
    let theirs = Rc::clone(&packet);
    let job = move || {
        let result = catch_unwind(AssertUnwindSafe(f));
        if let Err(payload) = &result {
            panics::escape(&**payload);
        }
        // SAFETY: nobody reads the packet before the thread has ended.
        unsafe { *theirs.result.get() = Some(result) };
        if facts::fact(Fact::EndsAreWatched) != 0 {
            theirs.ended.store(true, Ordering::Release);
        }
    };
    let job: Box<dyn FnOnce() + 'a> = unpick_runtime::untracked(|| Box::new(job));
    // SAFETY: for `spawn` the closure is 'static; for `scope` the thread is joined before anything
    // that the closure borrows goes away.
    let job = unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'a>, Box<dyn FnOnce() + 'static>>(job) };
    (job, packet)
}

/// Takes the result of a thread that was joined.
fn collect<T>(thread: ThreadId, packet: &Packet<T>) -> Result<T> {
    // SAFETY: the thread has ended, and results are collected once.
    let result = unsafe { (*packet.result.get()).take() };
    let result = result.unwrap_or_else(|| panic!("the result of {thread} has been taken already"));
    if result.is_err() {
        panics::handle(thread);
    }
    result
}

/// Threads that end before the scope does, as [`std::thread::Scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    outside: Cell<Option<&'scope std::thread::Scope<'scope, 'env>>>,
    threads: RefCell<Vec<(ThreadId, Joined)>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Whether a scoped thread has been joined, and whether it panicked.
type Joined = Rc<(Cell<bool>, Cell<bool>)>;

// SAFETY: inside a check one thread of the program runs at a time, on one OS thread; outside, the
// cells are not used.
unsafe impl Sync for Scope<'_, '_> {}

enum ScopedInner<'scope, T> {
    Checked { thread: ThreadId, packet: Rc<Packet<T>>, joined: Joined },
    Outside(std::thread::ScopedJoinHandle<'scope, T>),
}

/// A handle to a thread of a scope, as [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T>(ScopedInner<'scope, T>);

// SAFETY: as for `JoinHandle`.
unsafe impl<T> Send for ScopedJoinHandle<'_, T> {}
// SAFETY: as for `JoinHandle`.
unsafe impl<T> Sync for ScopedJoinHandle<'_, T> {}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the thread, and returns its result.
    ///
    /// # Errors
    ///
    /// When the thread panicked.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            ScopedInner::Checked { thread, packet, joined } => {
                ops::join(thread, here!());
                joined.0.set(true);
                collect(thread, &packet)
            }
            ScopedInner::Outside(handle) => handle.join(),
        }
    }

    /// Whether the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            ScopedInner::Checked { packet, .. } => packet.has_ended(),
            ScopedInner::Outside(handle) => handle.is_finished(),
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread of the scope.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        if let Some(outside) = self.outside.get() {
            return ScopedJoinHandle(ScopedInner::Outside(outside.spawn(f)));
        }
        let joined: Joined = Rc::default();
        let theirs = Rc::clone(&joined);
        let (job, packet) = package(move || {
            let result = catch_unwind(AssertUnwindSafe(f));
            theirs.1.set(result.is_err());
            result.unwrap_or_else(|payload| resume_unwind(payload))
        });
        let thread = ops::spawn(job, here!());
        self.threads.borrow_mut().push((thread, Rc::clone(&joined)));
        ScopedJoinHandle(ScopedInner::Checked { thread, packet, joined })
    }
}

/// Runs `f`, and waits for the threads that it spawns in the scope, as [`std::thread::scope`].
///
/// # Panics
///
/// When a thread that was not joined has panicked.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let site = here!();
    let scope = Scope {
        outside: Cell::new(None),
        threads: RefCell::new(Vec::new()),
        scope: PhantomData,
        env: PhantomData,
    };
    if !ops::in_check() {
        // SAFETY: `scope` lives longer than std's scope, which ends after all its threads.
        return std::thread::scope(|outside| unsafe {
            let scope: &Scope<'_, 'env> = &*(&raw const scope).cast();
            scope.outside.set(Some(std::mem::transmute::<&std::thread::Scope<'_, 'env>, &_>(outside)));
            f(scope)
        });
    }
    // All threads are joined below, before the scope goes away, whether `f` panics or not.
    let result: Result<T> = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let mut panicked = false;
    let mut next = 0;
    loop {
        let thread = scope.threads.borrow().get(next).cloned();
        let Some((thread, joined)) = thread else { break };
        next += 1;
        if !joined.0.get() {
            ops::join(thread, site);
            if joined.1.get() {
                // The panic goes on in this thread.
                panics::handle(thread);
                panicked = true;
            }
        }
    }
    match result {
        Err(payload) => resume_unwind(payload as Box<dyn Any + Send>),
        Ok(_) if panicked => panic!("a scoped thread panicked"),
        Ok(value) => value,
    }
}
