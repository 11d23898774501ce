//! Ops of executions that are drawn at random.

use unpick_core::execution::Execution;
use unpick_core::op::{Addr, Kind, Op, ThreadId, Value};

use super::{Request, advance, count_in, leave, leave_for_good};
use unpick_driver::watch;

use crate::arena;
use crate::current::{self, context};
use crate::frontend::Handle;
use crate::session::Session;

/// As [`unwatched`](super::unwatched), in an execution that is drawn at random.
///
/// # Safety
///
/// As there.
pub(crate) unsafe extern "C-unwind" fn sampled(request: *mut Request<'_>) -> Value {
    let (session, thread) = current::known_context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`; the caller's promise.
    let (s, request) = unsafe { (&mut *session, &mut *request) };
    if request.object.tag.stamp() == s.stamp() {
        request.op.addr = Addr(request.object.tag.number());
    } else {
        locate(session, thread, request);
    }
    if request.op.kind == Kind::Read {
        // SAFETY: as in `take`.
        watch::look(&mut unsafe { Handle::new(session) }, thread, &request.op);
    }
    let value = loop {
        // SAFETY: as in `take`.
        let s = unsafe { &mut *session };
        if let Some(value) = s.search.execution.sample_access(thread, &request.op) {
            break value;
        }
        // A thread that is left here, and not from another function, has one way back less that the
        // processor does not foresee.
        leave(session, thread);
        // SAFETY: as in `take`.
        if request.object.tag.stamp() != unsafe { (*session).stamp() } {
            // The object may be gone by now.
            locate(session, thread, request);
        }
    };
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    s.pulse.at(request.op.site);
    s.check_published(thread, &request.op);
    if s.pulse.is_stopped() {
        s.search.execution.request_rerun();
    }
    if s.search.execution.is_stopped() {
        leave_for_good(session, thread);
    }
    count_in(arena);
    arena::enter(arena);
    value
}

/// Gives an object its location, for [`sampled`].
#[inline(never)]
fn locate(session: *mut Session, thread: ThreadId, request: &mut Request<'_>) {
    // SAFETY: as in `take`.
    while !unsafe { (*session).locate(thread, &request.object, request.init, &mut request.op) } {
        leave(session, thread);
    }
}

/// As [`other`](super::other), in an execution that is drawn at random.
pub(super) fn other(op: &Op) -> Value {
    taken_by(|execution, thread| execution.sample(thread, op))
}

/// Takes an op by `sample`, however often the thread must stop before.
#[inline(always)]
pub(super) fn taken_by(sample: impl Fn(&mut Execution, ThreadId) -> Option<Value>) -> Value {
    let (session, thread) = context();
    let arena = arena::enter(std::ptr::null_mut());
    let value = loop {
        // SAFETY: as in `take`.
        if let Some(value) = sample(unsafe { &mut (*session).search.execution }, thread) {
            break value;
        }
        leave(session, thread);
    };
    advance(session, thread, arena);
    value
}
