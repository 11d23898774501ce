//! Threads: how they start and end, and what is kept for each.

use unpick_core::op::{Op, Site, ThreadId};

use super::other;
use crate::arena;
use crate::current::context;
use crate::session::{Job, Session};

/// Starts a thread, and keeps a pointer for it as [`set_data`] does.
pub fn spawn(job: Job, data: *const (), site: Site) -> ThreadId {
    let thread = ThreadId(other(&Op::spawn(site)) as u32);
    let (session, parent) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    s.locals.follow(thread, parent);
    s.hire(thread, job);
    s.set_data(thread, data);
    arena::enter(arena);
    thread
}

/// Waits for a thread to end.
pub fn join(thread: ThreadId, site: Site) {
    other(&Op::join(thread, site));
    let (session, caller) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    unsafe { (*session).locals.follow(caller, thread) };
    arena::enter(arena);
}

/// The end of a thread.
pub(crate) fn finish() {
    other(&Op::finish());
}

/// The calling thread.
pub fn thread() -> ThreadId {
    context().1
}

/// Keeps a pointer for a thread until the end of the run: what the library knows about the thread.
pub fn set_data(thread: ThreadId, data: *const ()) {
    let (session, _) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: as in `take`.
    unsafe { (*session).set_data(thread, data) };
    arena::enter(arena);
}

/// The pointer that was kept for a thread in this run, or null.
pub fn data(thread: ThreadId) -> *const () {
    let (session, _) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &*session };
    s.data.get(thread.index()).copied().unwrap_or(std::ptr::null())
}

/// What a thread is called in the exploration, also where a schedule of it is followed.
pub fn name_of(thread: ThreadId) -> u32 {
    let (session, _) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &*session };
    s.names.get(thread.index()).copied().unwrap_or(thread.0)
}

/// The thread with a name that [`name_of`] gave.
pub fn named(name: u32) -> ThreadId {
    let (session, _) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &*session };
    ThreadId(s.names.iter().position(|&known| known == name).map_or(name, |thread| thread as u32))
}

/// Whether a thread that waits may wake up without a reason.
pub fn wakes_spuriously() -> bool {
    let (session, _) = context();
    // SAFETY: as in `take`.
    let s = unsafe { &mut *session };
    s.waits = true;
    s.limits.spurious_wakeups
}

impl Session {
    /// Keeps a pointer for a thread.
    #[inline(always)]
    fn set_data(&mut self, thread: ThreadId, data: *const ()) {
        if thread.index() >= self.data.len() {
            self.data.resize(thread.index() + 1, std::ptr::null());
        }
        self.data[thread.index()] = data;
    }

    /// Gives a thread its work.
    fn hire(&mut self, thread: ThreadId, job: Job) {
        if thread.index() >= self.jobs.len() {
            self.jobs.resize(thread.index() + 1, None);
        }
        self.jobs[thread.index()] = Some(job);
    }
}
