//! What the library asks for on behalf of user code: every op of a thread under test.
//!
//! All of it runs on the fiber of the caller. Engine code allocates from the system heap, the arena put aside.

mod again;
mod binding;
mod choices;
mod plain;
mod sampling;
mod threads;

use std::cell::Cell;

use corosensei::Yielder;
use unpick_core::event::{Event, EventId};
use unpick_core::execution::Repeat;
use unpick_core::op::{Addr, Kind, Mode, Op, Site, ThreadId, Value};
use unpick_core::violation::{self, Point, Violation, Wait, Waiter};
use unpick_driver::search::Search;
use unpick_driver::take::{self, Asker, Caller};
use unpick_driver::watch::{self, Stand, Watch};

use crate::arena::{self, Arena};
use crate::current::{self, context};
use crate::frontend::Handle;
use crate::registers::forget_scratch;
use crate::session::Session;
use crate::tag::Tag;
use again::stop_here;
use unpick_core::error::Error;

pub(crate) use again::{again, stop_behind};
pub(crate) use choices::time_is_over;
pub use choices::{choose, guess, whim};
pub(crate) use plain::accesses;
pub use plain::{access, end_access, lend, reclaim};
pub(crate) use sampling::sampled;
pub(crate) use threads::finish;
pub use threads::{
    count_events_anew, data, detach, events, follow, join, name_of, named, set_data, spawn, spawned, thread,
    view, wakes_spuriously,
};

/// What the runtime must know of an object to give it a location or a cell.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    /// The tag inside the object.
    pub tag: &'a Tag,
    /// Name of the type.
    pub kind: &'static str,
    /// Start and size of contents that change in memory, besides what the engine keeps.
    pub contents: (*mut u8, usize),
}

impl<'a> Object<'a> {
    /// An object whose value the engine keeps.
    #[inline(always)]
    pub fn new(tag: &'a Tag, kind: &'static str) -> Object<'a> {
        Object { tag, kind, contents: (std::ptr::null_mut(), 0) }
    }
}

/// A request, as it goes through the path on which loops are watched.
pub(crate) struct Request<'a> {
    pub(crate) object: Object<'a>,
    pub(crate) init: Value,
    pub(crate) op: Op,
}

/// Whether the caller is a thread of a program under test.
#[inline(always)]
pub fn in_check() -> bool {
    current::get().is_some()
}

/// Takes an op on an object whose value was `init` when it was made.
///
/// # Panics
///
/// Outside a check.
#[inline(always)]
pub fn on_object(object: Object<'_>, init: Value, op: Op) -> Value {
    let mut request = Request { object, init, op };
    // SAFETY: the request is valid and ours until the path returns.
    unsafe { current::path()(&raw mut request) }
}

/// The path on which nobody looks at the stack, in an execution that may repeat what was recorded.
///
/// # Safety
///
/// In a thread of a program under test, with a request that nobody else uses; so are the other paths.
pub(crate) unsafe extern "C-unwind" fn unwatched(request: *mut Request<'_>) -> Value {
    let (session, thread) = current::known_context();
    // SAFETY: as in `take`; the caller's promise.
    let (s, request) = unsafe { (&mut *session, &mut *request) };
    // The arena need not be put aside: nothing here takes memory.
    if request.object.tag.stamp() == s.stamp() {
        request.op.addr = Addr(request.object.tag.number());
        repeat(s, thread, request)
    } else {
        unwatched_anew(s, thread, request)
    }
}

/// As [`unwatched`] or [`sampled`], where memory is looked at that the engine does not see.
///
/// # Safety
///
/// As there.
pub(crate) unsafe extern "C-unwind" fn looking(request: *mut Request<'_>) -> Value {
    let (session, thread) = current::known_context();
    // SAFETY: as in `take`; the caller's promise.
    unsafe {
        (*session).lent.mask(&(*request).object);
        look_now(session, thread);
        let value = if (*session).search.execution.samples() { sampled(request) } else { unwatched(request) };
        used(&*request);
        value
    }
}

/// The running thread has had an op on an object.
pub(crate) fn used(request: &Request<'_>) {
    let (session, thread) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    if s.overwritten.looks() && !s.search.execution.samples() {
        let arena = arena::enter(std::ptr::null_mut());
        s.used_atomic(thread, &request.object, &request.op);
        arena::enter(arena);
        if s.search.execution.is_stopped() {
            arena::enter(std::ptr::null_mut());
            leave_for_good(session, thread);
        }
    }
}

/// Before the op of a thread that is not watched: looks at memory that the engine does not see. Where it is watched, the path does.
#[inline(always)]
fn look() {
    if !current::is_watched() {
        look_anyway();
    }
}

/// As [`look`], also where the thread is watched.
#[inline(always)]
pub(crate) fn look_anyway() {
    let (session, thread) = context();
    // SAFETY: as in `take`.
    if unsafe { (*session).looks() } {
        look_now(session, thread);
    }
}

/// Looks at what the thread has done that the engine does not see.
#[inline(never)]
fn look_now(session: *mut Session, thread: ThreadId) {
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    s.look(thread, frame());
    if s.search.execution.is_stopped() {
        leave_for_good(session, thread);
    }
    arena::enter(arena);
}

/// An address in the frame of the caller or below: what user code has on the stack is above.
#[inline(never)]
fn frame() -> usize {
    let mark = 0u8;
    std::hint::black_box(&raw const mark) as usize
}

/// As [`unwatched`], for the first use of an object in a run.
#[inline(never)]
fn unwatched_anew(s: &mut Session, thread: ThreadId, request: &mut Request<'_>) -> Value {
    match s.bind_again(thread, &request.object, request.init, &mut request.op) {
        true => repeat(s, thread, request),
        false => unwatched_slowly(request),
    }
}

#[inline(always)]
fn repeat(s: &mut Session, thread: ThreadId, request: &mut Request<'_>) -> Value {
    match s.search.execution.repeat_access(thread, &request.op) {
        Repeat::Done(value) => {
            count(s, thread, arena::current());
            value
        }
        Repeat::After(event) => repeat_after(event, &request.op),
        Repeat::No => unwatched_slowly(request),
    }
}

/// Repeats an op once another event has been repeated.
#[inline(never)]
fn repeat_after(event: EventId, op: &Op) -> Value {
    let (session, thread) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    unsafe { (*session).search.execution.wait_for(thread, event) };
    leave(session, thread);
    let value = take::take_other(OnFiber { session, thread }, op);
    advance(session, thread, arena);
    value
}

/// As [`unwatched`], for ops that do not just repeat what was recorded.
#[inline(never)]
fn unwatched_slowly(request: &mut Request<'_>) -> Value {
    take(request, 0)
}

/// The common path. `stack` is where the live stack of user code ends, or 0 if nobody looks; there is
/// a copy of the function for either.
#[inline(always)]
pub(crate) fn take(request: &mut Request<'_>, stack: usize) -> Value {
    let (session, thread) = context();
    let arena = arena::enter(std::ptr::null_mut());
    let Request { object, init, op } = request;
    let on = OnFiber { session, thread };
    let value = take::take(OnObject { on, object, init: *init, stack, arena }, op);
    advance(session, thread, arena);
    value
}

/// A thread on its fiber, whose arena is put aside.
#[derive(Clone, Copy)]
struct OnFiber {
    session: *mut Session,
    thread: ThreadId,
}

impl OnFiber {
    fn session<'a>(self) -> &'a mut Session {
        // SAFETY: the session outlives its fibers; no other reference to it is in use while a
        // fiber runs, and this one ends before the fiber is left.
        unsafe { &mut *self.session }
    }
}

impl Caller for OnFiber {
    #[inline(always)]
    fn thread(self) -> ThreadId {
        self.thread
    }

    #[inline(always)]
    fn search<'a>(self) -> &'a mut Search {
        &mut self.session().search
    }

    #[inline(always)]
    fn leave(self) {
        leave(self.session, self.thread);
    }
}

/// A thread that asks for an op on an object.
#[derive(Clone, Copy)]
struct OnObject<'a> {
    on: OnFiber,
    object: &'a Object<'a>,
    init: Value,
    stack: usize,
    /// What the thread allocates from.
    arena: *mut Arena,
}

impl Caller for OnObject<'_> {
    #[inline(always)]
    fn thread(self) -> ThreadId {
        self.on.thread
    }

    #[inline(always)]
    fn search<'a>(self) -> &'a mut Search {
        self.on.search()
    }

    #[inline(always)]
    fn leave(self) {
        self.on.leave();
    }
}

impl Asker for OnObject<'_> {
    #[inline(always)]
    fn locate(self, op: &mut Op) -> bool {
        let (s, tag) = (self.on.session(), self.object.tag);
        if tag.stamp() == s.stamp() {
            op.addr = Addr(tag.number());
        } else if !s.locate(self.on.thread, self.object, self.init, op) {
            return false;
        }
        if self.stack != 0 && s.tracks_addresses() {
            s.note_address(op.addr, tag);
        }
        if self.stack != 0 && s.looks() {
            s.lent.mask(self.object);
            s.look(self.on.thread, frame());
            return !s.search.execution.is_stopped();
        }
        true
    }

    #[inline(always)]
    fn frame(self) -> usize {
        self.stack
    }

    #[inline(always)]
    fn watch(self, stand: &Stand<'_>) -> Watch {
        let s = self.on.session();
        if self.stack != 0 {
            s.note(self.on.thread, stand.op.site);
            s.watching.trials.arena = self.arena;
        }
        // SAFETY: as in `session`; the entry of the op has left the registers there.
        unsafe { watch::watch(&mut Handle::new(self.on.session), stand) }
    }

    #[inline(always)]
    fn taken(self, op: &Op, fresh: bool) {
        if fresh {
            let s = self.on.session();
            s.pulse.at(op.site);
            s.check_published(self.on.thread, op);
            if crate::freed::has_freed_value(op) {
                s.got_freed_value(self.on.thread, op);
            }
            if s.pulse.is_stopped() {
                s.search.execution.request_rerun();
            }
        }
    }
}

/// Takes an op that concerns no object.
fn other(op: &Op) -> Value {
    look();
    let (session, thread) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    // As in `unwatched`.
    if current::is_watched() {
        // SAFETY: the op is the caller's.
        return unsafe { other_watched(op) };
    }
    if s.search.execution.samples() {
        return sampling::other(op);
    }
    match s.search.execution.repeat_op(thread, op) {
        Repeat::Done(value) => {
            count(s, thread, arena::current());
            value
        }
        Repeat::After(event) => repeat_after(event, op),
        Repeat::No => other_slowly(op),
    }
}

/// As [`other`], where the thread is watched.
///
/// # Safety
///
/// The pointer is to an op that nobody changes.
#[inline(never)]
pub(crate) unsafe extern "C-unwind" fn other_watched(op: *const Op) -> Value {
    let (session, thread) = context();
    crate::shared::end_quiet();
    // SAFETY: as in `take`; the caller's promise.
    let (s, op) = unsafe { (&mut *session, &*op) };
    s.note(thread, op.site);
    if s.looks() {
        look_now(session, thread);
    }
    let value = other_slowly(op);
    if op.kind != Kind::Spawn {
        stop_here();
    }
    forget_scratch();
    value
}

/// As [`other`], for ops that do not just repeat what was recorded.
#[inline(never)]
fn other_slowly(op: &Op) -> Value {
    let (session, thread) = context();
    let arena = arena::enter(std::ptr::null_mut());
    let value = take::take_other(OnFiber { session, thread }, op);
    advance(session, thread, arena);
    value
}

/// Goes back to user code after an op.
#[inline(always)]
pub(crate) fn advance(session: *mut Session, thread: ThreadId, arena: *mut Arena) {
    // SAFETY: as in `take`.
    count(unsafe { &*session }, thread, arena);
    arena::enter(arena);
}

/// Counts an op.
#[inline(always)]
fn count(session: &Session, thread: ThreadId, arena: *mut Arena) {
    if session.search.execution.position(thread) == session.watching.from {
        current::take_path(crate::registers::watched, true);
    }
    count_in(arena);
}

/// Counts an op where its thread takes memory from.
#[inline(always)]
fn count_in(arena: *mut Arena) {
    if !arena.is_null() {
        // SAFETY: the arena of the running thread, which nothing else refers to.
        unsafe { (*arena).position += 1 };
    }
}

/// A fence.
pub fn fence(mode: Mode, site: Site) {
    other(&Op::fence(mode, site));
}

/// Whether the last op of the caller was a weak exchange that failed without a reason.
#[inline(never)]
pub fn failed_spuriously() -> bool {
    let (session, thread) = context();
    // SAFETY: as in `take`.
    let execution = unsafe { &(*session).search.execution };
    let last = EventId::new(thread, execution.position(thread) as usize - 1);
    let spurious = execution.graph().event(last).has(Event::SPURIOUS);
    forget_scratch();
    spurious
}

/// Stops the thread for ever: the program discards the execution.
pub fn discard(site: Site) -> ! {
    let (session, _) = context();
    // SAFETY: as in `take`.
    unsafe { &mut *session }.search.purpose.discarded.get_or_insert(site);
    stop(Wait::Assume, site)
}

/// Stops the thread for ever: the execution was begun with a guess that turns out to be wrong.
pub fn give_up(site: Site) -> ! {
    stop(Wait::Assume, site)
}

/// Ends the process: the execution, once the other threads have come as far as they can, or at once if
/// the code is that of a failure.
pub fn exit(code: i32, site: Site) -> ! {
    if code == 0 { stop(Wait::Exit, site) } else { fail(violation::Kind::Exit { code }, site) }
}

/// Ends the process at once, which is a violation.
pub fn abort(site: Site) -> ! {
    fail(violation::Kind::Abort, site)
}

/// Ends the execution with a violation.
fn fail(kind: violation::Kind, site: Site) -> ! {
    let (session, thread) = context();
    arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    let point = Point { thread, index: s.search.execution.position(thread), site };
    s.note(thread, site);
    s.search.execution.fail(Violation { kind, point });
    leave_for_good(session, thread)
}

/// How many events the caller has had.
#[inline(never)]
pub fn position() -> u32 {
    let (session, thread) = context();
    // SAFETY: as in `take`.
    let position = unsafe { (*session).search.execution.position(thread) };
    forget_scratch();
    position
}

/// Where the caller stood when something began, for as long as that goes on.
///
/// How far a thread is differs from round to round of a loop, and is no part of the loop's state. So user code never has
/// the number in a register, and it does not stay on the stack.
#[derive(Debug, Default)]
pub struct Since(Cell<u32>);

impl Since {
    /// Where the code of the three functions is that use the position.
    pub(crate) fn functions() -> [usize; 3] {
        let use_of = |function: fn(&Since) -> bool| function as *const () as usize;
        [Since::begin as fn(&Since) as *const () as usize, use_of(Since::is_past), use_of(Since::end)]
    }

    pub(crate) fn get(&self) -> u32 {
        self.0.get()
    }

    pub(crate) fn set(&self, position: u32) {
        self.0.set(position);
    }

    /// It begins now.
    #[inline(never)]
    pub fn begin(&self) {
        self.0.set(position());
        forget_scratch();
    }

    /// Whether the caller has had an event since.
    #[inline(never)]
    pub fn is_past(&self) -> bool {
        let past = position() != self.0.get();
        forget_scratch();
        past
    }

    /// Whether the caller has had an event since, now that it is over.
    #[inline(never)]
    pub fn end(&self) -> bool {
        let past = position() != self.0.take();
        forget_scratch();
        past
    }
}

/// Stops the thread as one that waits for a change of what it has read since `from`. It comes back
/// only under a strategy that looks ahead: then the thread is to read again.
pub fn wait_for_change(from: u32, site: Site) {
    crate::shared::end_quiet();
    let (session, thread) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    let point = Point { thread, index: s.search.execution.position(thread), site };
    s.note(thread, site);
    if s.search.execution.spin(point, None, from) {
        leave(session, thread);
    }
    arena::enter(arena);
}

pub(crate) fn stop(wait: Wait, site: Site) -> ! {
    crate::shared::end_quiet();
    let (session, thread) = context();
    arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    let point = Point { thread, index: s.search.execution.position(thread), site };
    s.note(thread, site);
    s.search.execution.block(thread, Waiter { point, wait });
    leave_for_good(session, thread)
}

/// Adds a remark to the report of a failing execution.
pub fn label(text: &dyn Fn() -> String, site: Site) {
    let Some((session, thread)) = current::get() else { return };
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    if let Some(recorder) = &mut s.recorder {
        let arena = arena::enter(std::ptr::null_mut());
        recorder.label(thread, s.search.execution.position(thread), text(), site);
        arena::enter(arena);
    }
}

impl Session {
    /// Keeps the call stack, if it is wanted.
    #[inline(always)]
    pub(crate) fn note(&mut self, thread: ThreadId, site: Site) {
        if let Some(recorder) = &mut self.recorder {
            recorder.note(Point { thread, index: self.search.execution.position(thread), site });
        }
    }
}

/// Lets other threads run until this one is named again.
#[inline(always)]
pub(crate) fn leave(session: *mut Session, thread: ThreadId) {
    // SAFETY: the yielder lives on this fiber's stack for as long as the fiber does.
    unsafe {
        let open = (*session).search.loops.is_open(thread);
        if open {
            (*session).search.loops.leave(&(*session).search.execution, thread);
        }
        let yielder: *const Yielder<(), ()> = (&(*session).fibers)[thread.index()].yielder();
        (*yielder).suspend(());
        arena::enter(std::ptr::null_mut());
        if open {
            (*session).search.loops.enter(thread);
        }
    }
}

/// Leaves the fiber, which is abandoned when the run is over.
pub(crate) fn leave_for_good(session: *mut Session, thread: ThreadId) -> ! {
    loop {
        leave(session, thread);
    }
}

/// Whether an object has a location in this run.
pub fn is_bound(tag: &Tag) -> bool {
    let (session, _) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &*session };
    [s.stamp(), s.heap_stamp()].contains(&tag.stamp())
        || s.objects.statics.number(tag as *const Tag as usize).is_some()
}

/// A fence after a SeqCst store, under models where such a store alone does not order anything.
pub fn flush_after_store(site: Site) {
    if flushes_stores() {
        fence(Mode::SeqCst, site);
    }
}

/// Whether a SeqCst store takes a fence of its own to order anything; answered by the runtime in rounds that are tried.
#[inline(never)]
pub(crate) extern "C" fn flushes_stores() -> bool {
    // SAFETY: as in `take`.
    let flushes = unsafe { (*context().0).search.execution.model().flushes_stores() };
    forget_scratch();
    flushes
}

/// Runs a closure whose allocations outlive the execution.
pub fn outside<R>(f: impl FnOnce() -> R) -> R {
    let Some((session, _)) = current::get() else { return f() };
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    unsafe { (*session).lose_addresses() };
    let before = current::set_outside(true);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    current::set_outside(before);
    arena::enter(arena);
    result.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
}

/// Whether the caller is inside [`outside`].
pub fn is_outside() -> bool {
    current::is_outside()
}

/// Ends the check with an error: the program does what unpick cannot do.
pub fn refuse(problem: &str) -> ! {
    let (session, thread) = context();
    arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    s.search.refuse(Error::Misuse { problem: problem.to_string() });
    leave_for_good(session, thread)
}
