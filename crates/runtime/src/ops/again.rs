//! Ops of an execution that is run once more, in another order, and of threads that are to stop behind theirs.

use unpick_core::op::{Addr, Value};

use super::{Request, advance, frame, leave};
use crate::arena;
use crate::current::{self, context};

/// The path of an execution that is run once more, in another order.
///
/// # Safety
///
/// As for `unwatched`.
pub(crate) unsafe extern "C-unwind" fn again(request: *mut Request<'_>) -> Value {
    crate::shared::end_quiet();
    let (session, thread) = current::known_context();
    // SAFETY: the caller's promise.
    let request = unsafe { &mut *request };
    // If the object is in memory that cannot be used any more, this is where the program uses it: it still has its arena.
    let stamp = request.object.tag.stamp();
    let arena = arena::enter(std::ptr::null_mut());
    let value = loop {
        // SAFETY: as in `take`; the reference ends before the fiber is left.
        let s = unsafe { &mut *session };
        if s.looks() {
            s.lent.mask(&request.object);
            s.look(thread, frame());
        }
        let mut located = s.search.execution.is_fresh(thread);
        if !located && stamp == s.stamp() {
            request.op.addr = Addr(request.object.tag.number());
            located = true;
        } else if !located {
            located = s.locate(thread, &request.object, request.init, &mut request.op);
        }
        if located && let Some(value) = s.search.execution.op(thread, &request.op) {
            break value;
        }
        leave(session, thread);
    };
    advance(session, thread, arena);
    stop_behind(request.object.kind);
    value
}

/// Stops the running thread, which has just had an op on an object of this kind, if it is not to run on to its next one yet. What
/// other objects do in memory right after their ops belongs to these.
pub(crate) fn stop_behind(kind: &str) {
    if kind.starts_with("Atomic") || ["Mutex", "RwLock", "token", "Notify"].contains(&kind) {
        stop_here();
    }
}

pub(super) fn stop_here() {
    let (session, thread) = context();
    // SAFETY: as in `take`; the reference ends before the fiber is left.
    if unsafe { (*session).search.execution.stops_behind(thread) } {
        let arena = arena::enter(std::ptr::null_mut());
        leave(session, thread);
        arena::enter(arena);
    }
}
