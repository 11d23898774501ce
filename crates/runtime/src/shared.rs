//! What objects that have several owners need of the runtime.

use unpick_core::op::{Op, ThreadId, Value};

use crate::arena::{self, Arena};
use crate::current::{self, context};
use crate::facts::{self, Fact};
use crate::ops::{self, Object, Request, advance, leave};
use crate::registers::forget_scratch;
use crate::session::Session;
use crate::{panics, tag::Tag};

/// Runs `f`, which should do nothing that other threads or later allocations can notice. If it is
/// about to, the fact is learnt instead, and the exploration starts again.
///
/// # Panics
///
/// Outside a check.
pub fn quietly(fact: Fact, bits: u64, f: impl FnOnce()) {
    ops::look_anyway();
    let (session, thread) = context();
    let (used, was_panicking) = (used(session, thread), panics::panicking());
    let before = current::set_quiet(Some((fact, bits)));
    let was_watched = current::is_watched();
    current::take_path(crate::registers::watched, true);
    let quiet = Quiet { fact, bits, session, thread, used, was_panicking, before, was_watched };
    f();
    drop(quiet);
}

/// A time in which nothing visible should happen.
struct Quiet {
    fact: Fact,
    bits: u64,
    session: *mut Session,
    thread: ThreadId,
    used: usize,
    was_panicking: bool,
    before: Option<(Fact, u64)>,
    was_watched: bool,
}

impl Drop for Quiet {
    fn drop(&mut self) {
        current::set_quiet(self.before);
        // SAFETY: as in `used`.
        let s = unsafe { &mut *self.session };
        s.take_path(self.was_watched);
        // What was done meanwhile is nobody's: others may do it in other executions.
        s.lent.keep();
        let allocated = used(self.session, self.thread) != self.used;
        if allocated || (panics::panicking() && !self.was_panicking) {
            facts::learn(self.fact, self.bits);
        }
    }
}

/// Says that something visible is about to happen.
#[inline]
pub(crate) fn end_quiet() {
    if let Some((fact, bits)) = current::quiet() {
        current::set_quiet(None);
        facts::learn(fact, bits);
    }
}

/// How much a thread has allocated.
fn used(session: *mut Session, thread: ThreadId) -> usize {
    // SAFETY: the session outlives its fibers, and no reference to it is in use while one runs.
    let arena = unsafe { (*session).arena(thread) };
    // SAFETY: an arena outlives the run, and nothing else refers to it now.
    if arena.is_null() { 0 } else { unsafe { (*arena).used() } }
}

/// Whether every other thread has ended, and the caller knows.
///
/// # Panics
///
/// Outside a check.
pub fn is_alone() -> bool {
    knows_all_ended()
}

/// As [`is_alone`], with a place in the code that a trial of a round knows.
#[inline(never)]
pub(crate) extern "C" fn knows_all_ended() -> bool {
    let (session, thread) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `used`.
    let search = unsafe { &mut (*session).search };
    // Whoever asks looks at what the others have left.
    search.purpose.shares |= search.execution.graph().thread_count() > 1;
    let alone = search.execution.is_alone(thread);
    arena::enter(arena);
    forget_scratch();
    alone
}

/// The oldest value that the caller could see in an object: what it knows of it without looking.
///
/// # Panics
///
/// Outside a check.
pub fn known_value(object: Object<'_>, init: Value) -> Value {
    // SAFETY: the tag is there for as long as the call lasts.
    unsafe { oldest_value(object.tag, init) }
}

/// As [`known_value`], with a place in the code that a trial of a round knows.
///
/// # Safety
///
/// The pointer is to a tag.
#[inline(never)]
pub(crate) unsafe extern "C" fn oldest_value(tag: *const Tag, init: Value) -> Value {
    let (session, thread) = context();
    // SAFETY: as in `used`; the caller's promise.
    let (s, tag) = unsafe { (&mut *session, &*tag) };
    let arena = arena::enter(std::ptr::null_mut());
    let value = match tag.stamp() == s.stamp() {
        true => s.search.execution.oldest_value(thread, unpick_core::op::Addr(tag.number())),
        false => init,
    };
    arena::enter(arena);
    forget_scratch();
    value
}

/// Runs a closure whose allocations belong to the run and to no thread: which thread makes them,
/// and when, does not show.
///
/// # Panics
///
/// Outside a check.
pub fn in_common<R>(f: impl FnOnce() -> R) -> R {
    let (session, _) = context();
    let before = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `used`.
    let s = unsafe { &mut *session };
    if s.heap.common.is_none() {
        s.heap.common = Arena::take();
    }
    let on_arenas = s.is_on_arenas();
    let common = match &mut s.heap.common {
        Some(common) if on_arenas => &raw mut **common,
        _ => std::ptr::null_mut(),
    };
    arena::enter(common);
    let result = f();
    arena::enter(before);
    result
}

/// Waits for a value, as the op says, unless it turns out that there will be none: `None` then.
///
/// `over` looks at plain memory that changes right after events. Once it is true it must stay so,
/// and never be true in an execution where the op can be taken; and the caller's next op must be of
/// another kind than this one. Whoever makes it true calls [`wake`].
///
/// # Panics
///
/// Outside a check.
pub fn wait_unless(object: Object<'_>, init: Value, op: Op, over: &dyn Fn() -> bool) -> Option<Value> {
    end_quiet();
    let mut request = Request { object, init, op };
    let (session, thread) = context();
    // SAFETY: as in `used`.
    unsafe { (*session).lent.mask(&request.object) };
    ops::look_anyway();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `used`.
    let s = unsafe { &mut *session };
    s.note(thread, op.site);
    loop {
        // SAFETY: as in `used`; the reference ends before the fiber is left.
        let s = unsafe { &mut *session };
        let is_over = match s.search.execution.recorded(thread) {
            Some(event) => event.rmw != op.rmw,
            None => over(),
        };
        if is_over {
            arena::enter(arena);
            return None;
        }
        if request.object.tag.stamp() == s.stamp() {
            request.op.addr = unpick_core::op::Addr(request.object.tag.number());
        } else if !s.locate(thread, &request.object, request.init, &mut request.op) {
            leave(session, thread);
            continue;
        }
        if let Some(value) = s.search.execution.op(thread, &request.op) {
            advance(session, thread, arena);
            return Some(value);
        }
        leave(session, thread);
    }
}

/// Lets those who wait for an object look whether they still have to.
///
/// # Panics
///
/// Outside a check.
pub fn wake(tag: &Tag) {
    let (session, _) = context();
    // SAFETY: as in `used`.
    let s = unsafe { &mut *session };
    if tag.stamp() == s.stamp() {
        let arena = arena::enter(std::ptr::null_mut());
        s.search.execution.ask_again(unpick_core::op::Addr(tag.number()));
        arena::enter(arena);
    }
}
