//! Threads, as in [`std::thread`].

mod builder;
mod handle;
mod local;
mod parking;

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, needs_drop};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use unpick_core::op::{Addr, Mode, Op, Rmw, Site, TAKEN, ThreadId as Number};
use unpick_runtime::facts::{self, Fact};
use unpick_runtime::ops::{self, Object};
use unpick_runtime::{Job, Tag, locals, panics};

use crate::here;

pub use builder::Builder;
use handle::{Local, Owner};
pub use handle::{Thread, ThreadId, current};
pub(crate) use parking::{Wakes, mutex_of, wake};
#[expect(deprecated, reason = "std has them still")]
pub use parking::{park, park_timeout, park_timeout_ms, sleep_ms};

pub use crate::time::sleep;
pub use local::{AccessError, LocalKey};

/// What a thread leaves behind: its result, or the value it panicked with.
pub type Result<T> = std::thread::Result<T>;

/// Where a thread puts its result. Threads under test share one OS thread, so counting needs no
/// atomics.
struct Packet<T> {
    /// Dropped by [`Packet::discard`], and not by whoever happens to drop the packet: that must be
    /// the same in every run of an execution.
    result: UnsafeCell<ManuallyDrop<Option<Result<T>>>>,
    /// A flag that the thread sets when it ends, and its handle when it is dropped; if anybody looks.
    tag: Tag,
    /// What is kept for the thread.
    local: Local,
    /// Where the thread was spawned: what a report says about its end and about the dropping of its
    /// handle, which have no places of their own in the source.
    site: Site,
}

/// A packet, and what the thread has to do to fill it: one block of memory for both.
struct Work<F, T> {
    packet: Packet<T>,
    /// Taken when the thread starts. In an execution that is abandoned, nobody drops it.
    todo: Cell<Option<F>>,
}

/// Something with a packet.
trait Parcel<T>: Owner {
    fn packet(&self) -> &Packet<T>;
}

impl<F, T> Owner for Work<F, T> {
    fn local(&self) -> &Local {
        &self.packet.local
    }
}

impl<F, T> Parcel<T> for Work<F, T> {
    fn packet(&self) -> &Packet<T> {
        &self.packet
    }
}

impl<F: FnOnce() -> T, T> Work<F, T> {
    /// Work with an empty packet, made in place: building it on the stack and moving it shows in profiles.
    #[inline(always)]
    fn new(name: Option<String>, f: F, site: Site) -> Rc<Work<F, T>> {
        let mut work = unpick_runtime::untracked(Rc::<Work<F, T>>::new_uninit);
        // SAFETY: the block is not shared yet, and all fields are written before it is used.
        unsafe {
            let place = Rc::get_mut(&mut work).unwrap_unchecked().as_mut_ptr();
            (&raw mut (*place).packet.result).write(UnsafeCell::new(ManuallyDrop::new(None)));
            (&raw mut (*place).packet.tag).write(Tag::new());
            (&raw mut (*place).packet.site).write(site);
            (&raw mut (*place).packet.local).write(Local::new(name));
            (&raw mut (*place).todo).write(Cell::new(Some(f)));
            let work = work.assume_init();
            let owner: *const Work<F, T> = Rc::as_ptr(&work);
            work.packet.local.set_owner(owner);
            work
        }
    }

    /// Does the work, in its own thread.
    ///
    /// # Safety
    ///
    /// The pointer is of an `Rc`, which is given up here.
    unsafe fn run(work: *const ()) {
        // SAFETY: as the caller promises.
        let work = unsafe { Rc::from_raw(work.cast::<Work<F, T>>()) };
        let Some(f) = work.todo.take() else { return };
        let result = catch_unwind(AssertUnwindSafe(f));
        if let Err(payload) = &result {
            panics::escape(&**payload);
        }
        let packet = &work.packet;
        // SAFETY: nobody reads the packet before the thread has ended.
        unsafe { *packet.result.get() = ManuallyDrop::new(Some(result)) };
        if facts::fact(Fact::EndsAreWatched) != 0 && packet.leave(packet.site) {
            packet.discard();
        }
    }
}

impl<T> Packet<T> {
    /// Whether the thread has ended, as far as the caller can know.
    #[track_caller]
    fn has_ended(&self) -> bool {
        facts::learn(Fact::EndsAreWatched, 1);
        self.take(Op::load(Addr::NONE, Mode::Acquire, here!()))
    }

    /// Says that the thread ends, or that its handle is dropped; whether the other has done so before.
    fn leave(&self, site: Site) -> bool {
        self.take(Op::rmw(Addr::NONE, Rmw::Swap, Mode::AcqRel, 1, site))
    }

    fn take(&self, op: Op) -> bool {
        ops::on_object(Object::new(&self.tag, "JoinHandle"), 0, Op { width: 1, ..op }) != 0
    }

    /// Drops the result of a thread that nobody waits for. A panic on the way ends the process, in
    /// `std`; here it is the caller's, whom nobody can save from it.
    fn discard(&self) {
        // SAFETY: the thread has put its result there, and only one side is the last to leave.
        let result = unsafe { (*self.result.get()).take() };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(result))) {
            panics::escape(&*payload);
            std::mem::forget(payload);
        }
    }
}

impl<T> Drop for Packet<T> {
    fn drop(&mut self) {
        // What is left of a thread that nobody waited for: if it has a destructor, `discard` has seen
        // to it, and if not, there is the value that the thread panicked with.
        if !needs_drop::<T>() {
            // SAFETY: nobody else has the packet any more.
            unsafe { ManuallyDrop::drop(self.result.get_mut()) };
        }
    }
}

/// A thread under test that can be waited for.
pub(crate) struct Checked<T> {
    thread: Number,
    parcel: Rc<dyn Parcel<T>>,
    joined: bool,
    /// What `thread` returns, once it was asked for.
    handle: OnceCell<Thread>,
}

impl<T> Checked<T> {
    /// What the engine calls the thread.
    pub(crate) fn number(&self) -> Number {
        self.thread
    }

    fn thread(&self) -> &Thread {
        self.handle.get_or_init(|| self.parcel.local().thread())
    }

    #[track_caller]
    fn join(mut self) -> Result<T> {
        self.joined = true;
        ops::join(self.thread, here!());
        // SAFETY: the thread has ended, and results are collected once.
        let result = unsafe { (*self.parcel.packet().result.get()).take() };
        let result = result.unwrap_or_else(|| panic!("the result of {} has been taken already", self.thread));
        if result.is_err() {
            panics::handle(self.thread);
        }
        result
    }
}

impl<T> Drop for Checked<T> {
    fn drop(&mut self) {
        // Nobody can tell when a result without a destructor is dropped.
        let told = needs_drop::<T>() && !self.joined && ops::in_check();
        if told {
            facts::learn(Fact::EndsAreWatched, 1);
            let packet = self.parcel.packet();
            if packet.leave(packet.site) {
                packet.discard();
            }
        }
    }
}

/// A thread that can be waited for.
enum Inner<T> {
    Checked(Checked<T>),
    Outside(std::thread::JoinHandle<T>, Thread),
}

/// A handle to a thread, as [`std::thread::JoinHandle`].
///
/// Dropping it detaches the thread. The result is then dropped as in `std`: by the thread at its
/// end, or with the handle if the thread has ended before. Inside a check both are explored, if the
/// result has a destructor at all; only what a panicking thread leaves to nobody may never be dropped.
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
            Inner::Checked(thread) => thread.join(),
            Inner::Outside(handle, _) => handle.join(),
        }
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Inner::Checked(checked) => checked.thread(),
            Inner::Outside(_, thread) => thread,
        }
    }

    /// Whether the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Inner::Checked(thread) => thread.parcel.packet().has_ended(),
            Inner::Outside(handle, _) => handle.is_finished(),
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
/// ever is a violation, joined or not, unless [`Check::detached`](crate::Check::detached) says
/// otherwise.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    if ops::in_check() {
        return JoinHandle(Inner::Checked(start(None, f, here!())));
    }
    Builder::new().spawn(f).expect("the system refuses another thread")
}

/// Whether the thread is unwinding because of a panic.
pub fn panicking() -> bool {
    panics::panicking()
}

/// How many threads can run at the same time, as far as the system tells; 2 inside a check, wherever
/// it runs.
///
/// # Errors
///
/// When the system does not tell.
pub fn available_parallelism() -> std::io::Result<std::num::NonZero<usize>> {
    if ops::in_check() { Ok(PARALLELISM) } else { std::thread::available_parallelism() }
}

const PARALLELISM: std::num::NonZero<usize> = std::num::NonZero::new(2).unwrap();

/// Lets other threads run first. Inside a check they do anyway.
pub fn yield_now() {
    if !ops::in_check() {
        std::thread::yield_now();
    }
}

/// Starts a thread of the program under test, which leaves its result in a packet.
pub(crate) fn start<'a, F, T>(name: Option<String>, f: F, site: Site) -> Checked<T>
where
    F: FnOnce() -> T + 'a,
    T: 'a,
{
    let work: Rc<Work<F, T>> = Work::new(name, f, site);
    // SAFETY: `run` gives up the pointer that is given away here, once.
    let job = unsafe { Job::new(Work::<F, T>::run, Rc::into_raw(Rc::clone(&work)).cast()) };
    let (thread, name) = ops::spawn(job, (&raw const work.packet.local).cast(), site);
    work.packet.local.number.set(name);
    ops::spawned();
    let parcel: Rc<dyn Parcel<T> + 'a> = work;
    // SAFETY: for `spawn` the closure is 'static, or its caller vouches for it; for `scope` the thread is
    // joined before anything that the closure borrows goes away, and with it the closure itself.
    let parcel = unsafe { std::mem::transmute::<Rc<dyn Parcel<T> + 'a>, Rc<dyn Parcel<T>>>(parcel) };
    Checked { thread, parcel, joined: false, handle: OnceCell::new() }
}

/// Threads that end before the scope does, as [`std::thread::Scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    outside: Cell<Option<&'scope std::thread::Scope<'scope, 'env>>>,
    threads: RefCell<Vec<(Number, Joined)>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Whether a scoped thread has been joined, whether it panicked, and a signal that it has done its work, if that
/// need not be its end.
type Joined = Rc<(Cell<bool>, Cell<bool>, Tag)>;

/// What the signal of a scoped thread is called.
const SCOPED: &str = "scoped thread";

// SAFETY: inside a check one thread of the program runs at a time, on one OS thread; outside, the
// cells are not used.
unsafe impl Sync for Scope<'_, '_> {}
// SAFETY: as above.
unsafe impl Send for Scope<'_, '_> {}
impl RefUnwindSafe for Scope<'_, '_> {}

enum ScopedInner<'scope, T> {
    Checked(Checked<T>, Joined),
    Outside(std::thread::ScopedJoinHandle<'scope, T>, Thread),
}

/// A handle to a thread of a scope, as [`std::thread::ScopedJoinHandle`]. What dropping it does is
/// said at [`JoinHandle`].
pub struct ScopedJoinHandle<'scope, T>(ScopedInner<'scope, T>);

// SAFETY: as for `JoinHandle`.
unsafe impl<T: Send> Send for ScopedJoinHandle<'_, T> {}
// SAFETY: as for `JoinHandle`.
unsafe impl<T: Send> Sync for ScopedJoinHandle<'_, T> {}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the thread, and returns its result.
    ///
    /// # Errors
    ///
    /// When the thread panicked.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            ScopedInner::Checked(thread, joined) => {
                let result = thread.join();
                joined.0.set(true);
                result
            }
            ScopedInner::Outside(handle, _) => handle.join(),
        }
    }

    /// The thread.
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            ScopedInner::Checked(checked, _) => checked.thread(),
            ScopedInner::Outside(_, thread) => thread,
        }
    }

    /// Whether the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            ScopedInner::Checked(thread, _) => thread.parcel.packet().has_ended(),
            ScopedInner::Outside(handle, _) => handle.is_finished(),
        }
    }
}

impl<T> std::fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
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
        Builder::new().spawn_scoped(self, f).expect("the system refuses another thread")
    }

    /// Starts a thread of the program under test.
    fn start<F, T>(&'scope self, name: Option<String>, f: F, site: Site) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let joined: Joined = Rc::default();
        let theirs = Rc::clone(&joined);
        let run = move || {
            let result = catch_unwind(AssertUnwindSafe(f));
            theirs.1.set(result.is_err());
            if locals::leave_scope() {
                if let Err(payload) = &result {
                    panics::escape(&**payload);
                }
                ops::on_object(Object::new(&theirs.2, SCOPED), TAKEN, Op::post(Addr::NONE, site));
            }
            result.unwrap_or_else(|payload| resume_unwind(payload))
        };
        let thread = start(name, run, site);
        self.threads.borrow_mut().push((thread.thread, Rc::clone(&joined)));
        ScopedJoinHandle(ScopedInner::Checked(thread, joined))
    }
}

/// Runs `f`, and waits for the threads that it spawns in the scope, as [`std::thread::scope`].
///
/// As there, it waits for what the threads do, and not for the destructors of their [thread-locals](macro@crate::thread_local), unless
/// they are joined: those may come later, if they do anything visible.
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
    let mut panicked = Vec::new();
    let mut next = 0;
    loop {
        let thread = scope.threads.borrow().get(next).cloned();
        let Some((thread, joined)) = thread else { break };
        next += 1;
        if !joined.0.get() {
            wait(thread, &joined.2, site);
            if joined.1.get() {
                // The panic goes on in this thread.
                panics::handle(thread);
                panicked.push(thread);
            }
        }
    }
    match result {
        Err(payload) => resume_unwind(payload as Box<dyn Any + Send>),
        Ok(value) if panicked.is_empty() => value,
        Ok(_) => {
            panics::pass_on(&panicked);
            panic!("a scoped thread panicked")
        }
    }
}

/// Waits until a scoped thread has done its work. Its thread-locals may be destroyed later.
fn wait(thread: Number, done: &Tag, site: Site) {
    if facts::fact(Fact::LocalsOutliveScopes) == 0 {
        return ops::join(thread, site);
    }
    ops::on_object(Object::new(done, SCOPED), TAKEN, Op::wait(Addr::NONE, false, site));
    ops::follow(thread);
}
