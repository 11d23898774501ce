//! Which session this OS thread works for, and which thread of
//! the program it is running. User code calls `load()` with no context; this is the context.

use std::cell::Cell;
use std::ops::Range;

use unpick_core::op::{ThreadId, Value};

use crate::facts::Fact;
use crate::ops::Request;
use crate::session::Session;

/// What an OS thread is doing.
pub(crate) struct Current {
    /// The session, or null outside a check.
    pub(crate) session: Cell<*mut Session>,
    /// The thread of the program that is running.
    pub(crate) thread: Cell<u32>,
    /// Whether ops take the slow path, where loops are watched.
    pub(crate) watched: Cell<bool>,
    /// The path that ops on objects take.
    pub(crate) path: Cell<Path>,
    /// Whether the program has asked for memory that outlives the execution.
    pub(crate) outside: Cell<bool>,
    /// Whether a thread got memory of the system heap in this run, since its arena was full.
    pub(crate) spilled: Cell<bool>,
    /// What is learnt if the program does anything visible.
    pub(crate) quiet: Cell<Option<(Fact, u64)>>,
}

const ENGINE: u32 = u32::MAX;

/// What takes a request: see `ops::on_object`.
pub(crate) type Path = unsafe extern "C-unwind" fn(*mut Request<'_>) -> Value;

unsafe extern "C-unwind" fn nowhere(_: *mut Request<'_>) -> Value {
    panic!("{OUTSIDE}")
}

const OUTSIDE: &str = "an operation of unpick's runtime outside a check";

impl Current {
    const fn nothing() -> Current {
        Current {
            session: Cell::new(std::ptr::null_mut()),
            thread: Cell::new(ENGINE),
            watched: Cell::new(false),
            path: Cell::new(nowhere),
            outside: Cell::new(false),
            spilled: Cell::new(false),
            quiet: Cell::new(None),
        }
    }
}

thread_local! {
    static CURRENT: Current = const { Current::nothing() };
}

/// Forgets a check that is over.
pub(crate) fn reset() {
    CURRENT.with(|current| {
        let Current { session, thread, watched, path, outside, spilled, quiet } = Current::nothing();
        current.session.swap(&session);
        current.thread.swap(&thread);
        current.watched.swap(&watched);
        current.path.swap(&path);
        current.outside.swap(&outside);
        current.spilled.swap(&spilled);
        current.quiet.swap(&quiet);
    });
}

/// Where an object is.
pub(crate) fn place_of<T>(object: &T) -> Range<usize> {
    let start = (&raw const *object).addr();
    start..start + size_of::<T>()
}

/// Where this OS thread has who runs on it.
pub(crate) fn place() -> Range<usize> {
    CURRENT.with(place_of)
}

/// The session and thread of the caller, if it is a thread of a program under test.
#[inline(always)]
pub(crate) fn get() -> Option<(*mut Session, ThreadId)> {
    CURRENT.with(|current| {
        let thread = current.thread.get();
        (thread != ENGINE).then(|| (current.session.get(), ThreadId(thread)))
    })
}

/// The session and thread of the caller.
///
/// # Panics
///
/// Outside a check.
#[inline(always)]
pub(crate) fn context() -> (*mut Session, ThreadId) {
    get().expect(OUTSIDE)
}

/// The session and thread of the caller, which is known to be a thread of a program under test.
#[inline(always)]
pub(crate) fn known_context() -> (*mut Session, ThreadId) {
    CURRENT.with(|current| (current.session.get(), ThreadId(current.thread.get())))
}

/// The path that ops on objects take.
#[inline(always)]
pub(crate) fn path() -> Path {
    CURRENT.with(|current| current.path.get())
}

/// Whether ops take the slow path.
#[inline(always)]
pub(crate) fn is_watched() -> bool {
    CURRENT.with(|current| current.watched.get())
}

/// Chooses the path that ops take, and says whether it is the one on which loops are watched.
#[inline(always)]
pub(crate) fn take_path(path: Path, watched: bool) {
    CURRENT.with(|current| {
        current.watched.set(watched);
        current.path.set(path);
    });
}

/// Says which thread of the program runs from now on; `None`: the engine.
#[inline(always)]
pub(crate) fn set(session: *mut Session, thread: Option<ThreadId>) {
    CURRENT.with(|current| {
        current.session.set(session);
        current.thread.set(thread.map_or(ENGINE, |thread| thread.0));
    });
}

/// Whether the program has asked for memory that outlives the execution.
pub(crate) fn is_outside() -> bool {
    CURRENT.with(|current| current.outside.get())
}

/// Says whether the program asks for memory that outlives the execution; returns what it said
/// before.
pub(crate) fn set_outside(outside: bool) -> bool {
    CURRENT.with(|current| current.outside.replace(outside))
}

/// Whether a thread got memory of the system heap in this run, since its arena was full.
pub(crate) fn has_spilled() -> bool {
    CURRENT.with(|current| current.spilled.get())
}

/// Says whether a thread got memory of the system heap in this run.
pub(crate) fn set_spilled(spilled: bool) {
    CURRENT.with(|current| current.spilled.set(spilled));
}

/// What is learnt if the program does anything visible.
pub(crate) fn quiet() -> Option<(Fact, u64)> {
    CURRENT.with(|current| current.quiet.get())
}

/// Says what is learnt if the program does anything visible; returns what was said before.
pub(crate) fn set_quiet(quiet: Option<(Fact, u64)>) -> Option<(Fact, u64)> {
    CURRENT.with(|current| current.quiet.replace(quiet))
}
