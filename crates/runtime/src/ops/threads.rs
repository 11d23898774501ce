//! Threads: how they start and end, and what is kept for each.

use unpick_core::execution::Execution;
use unpick_core::op::{Op, Site, ThreadId};

use super::sampling::taken_by;
use super::{count, look, other, other_slowly, stop_here};
use crate::arena;
use crate::current::{self, context};
use crate::session::{Job, Session};

/// Starts a thread, and keeps a pointer for it as [`set_data`] does. Returns the thread, and what
/// [`name_of`] says of it.
pub fn spawn(job: Job, data: *const (), site: Site) -> (ThreadId, u32) {
    look();
    let (session, parent) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    s.before_spawn(parent);
    let thread = if current::is_watched() {
        let child = ThreadId(other(&Op::spawn(site)) as u32);
        s.search.execution.stops_child(child);
        child
    } else if s.search.execution.samples() {
        ThreadId(taken_by(|execution, parent| execution.sample_spawn(parent, site)) as u32)
    } else if let Some(thread) = s.search.execution.repeat_spawn(parent) {
        count(s, parent, arena::current());
        thread
    } else {
        ThreadId(other_slowly(&Op::spawn(site)) as u32)
    };
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    if thread.index() >= s.jobs.len() || thread.index() >= s.data.len() {
        s.make_room(thread);
    }
    s.clocks.follow(thread, 0, parent);
    s.jobs[thread.index()] = Some(job);
    s.data[thread.index()] = data;
    (thread, s.search.knowledge.name_of(thread))
}

/// Says that all has been done that belongs to a spawn.
#[inline(always)]
pub fn spawned() {
    if current::is_watched() {
        stop_here();
    }
}

/// Waits for a thread to end.
pub fn join(thread: ThreadId, site: Site) {
    look();
    let (session, caller) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    if s.search.execution.samples() && !current::is_watched() {
        taken_by(|execution, caller| execution.sample_join(caller, thread, site));
    } else {
        other(&Op::join(thread, site));
    }
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    s.clocks.follow(caller, s.search.execution.position(caller), thread);
}

/// Says that the caller comes after what another thread has done so far, which it knows from elsewhere.
pub fn follow(thread: ThreadId) {
    let (session, caller) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    s.clocks.follow(caller, s.search.execution.position(caller), thread);
}

/// The end of a thread.
pub(crate) fn finish() {
    look();
    let (session, thread) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    if current::is_watched() {
        other(&Op::finish());
    } else if s.search.execution.samples() {
        taken_by(Execution::sample_finish);
    } else if !s.search.execution.repeat_finish(thread) {
        other_slowly(&Op::finish());
    }
}

/// The calling thread.
pub fn thread() -> ThreadId {
    context().1
}

/// Keeps a pointer for a thread until the end of the run: what the library knows about the thread.
pub fn set_data(thread: ThreadId, data: *const ()) {
    let (session, _) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    if thread.index() >= s.data.len() {
        s.make_room(thread);
    }
    s.data[thread.index()] = data;
}

/// The pointer that was kept for a thread in this run, or null.
pub fn data(thread: ThreadId) -> *const () {
    let (session, _) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &*session };
    s.data.get(thread.index()).copied().unwrap_or(std::ptr::null())
}

/// Says that a thread need not end: if it waits for ever when the main thread has ended, that is no
/// violation.
pub fn detach(thread: ThreadId) {
    let (session, _) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    unsafe { (*session).detached.push(thread) };
    arena::enter(arena);
}

/// How many events there have been in this run, of all threads.
pub fn events() -> usize {
    let (session, _) = context();
    // SAFETY: as in `take`.
    unsafe { (*session).search.execution.graph().total() }
}

/// Lets the limit on events count anew, from here on.
pub fn count_events_anew() {
    let (session, _) = context();
    // SAFETY: as in `take`.
    unsafe { (*session).search.execution.count_events_anew() };
}

/// What a thread knows: how many events of each thread.
pub fn view(thread: ThreadId) -> Vec<u32> {
    let (session, _) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`; the reference ends before the caller's memory is used again.
    unsafe { (*session).search.execution.view(thread) };
    arena::enter(arena);
    // SAFETY: as in `take`. The view is up to date, so that nothing is made now but the copy.
    unsafe { (*session).search.execution.view(thread).to_vec() }
}

/// What a thread is called in the exploration, also where a schedule of it is followed.
pub fn name_of(thread: ThreadId) -> u32 {
    let (session, _) = context();
    // SAFETY: as in `take`.
    unsafe { &*session }.search.knowledge.name_of(thread)
}

/// The thread with a name that [`name_of`] gave.
pub fn named(name: u32) -> ThreadId {
    let (session, _) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &*session };
    s.search.knowledge.named(name)
}

/// Whether a thread that waits may wake up without a reason.
pub fn wakes_spuriously() -> bool {
    let (session, _) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    s.search.waits = true;
    s.limits.spurious_wakeups
}

impl Session {
    /// Makes room for what is kept for a thread.
    #[cold]
    fn make_room(&mut self, thread: ThreadId) {
        let arena = arena::enter(std::ptr::null_mut());
        let threads = thread.index() + 1;
        self.jobs.resize(self.jobs.len().max(threads), None);
        self.data.resize(self.data.len().max(threads), std::ptr::null());
        arena::enter(arena);
    }
}
