//! What belongs to one thread of the program: its thread-locals.
//!
//! Values of thread-locals live in the thread's own memory, where the library puts them. Here is only
//! kept where they are. A thread destroys its own before it counts as ended, the youngest first;
//! those of a thread that is abandoned go with its memory.

use std::panic::{AssertUnwindSafe, catch_unwind};

use unpick_core::op::ThreadId;

use crate::current::context;
use crate::facts::{self, Fact};
use crate::registers::forget_scratch;
use crate::session::Session;
use crate::shared::quietly;
use crate::{arena, panics};

/// The value of one thread-local in one thread.
#[derive(Clone, Copy, Debug)]
struct Local {
    key: usize,
    /// The value, or null once it was destroyed.
    value: *mut (),
    free: unsafe fn(*mut ()),
    /// Whether destroying the value does anything but free its memory.
    drops: bool,
}

/// What belongs to each thread in the current run.
#[derive(Debug, Default)]
pub(crate) struct Locals {
    threads: Vec<Vec<Local>>,
    used: bool,
    /// Threads that somebody may take to have ended before their thread-locals are destroyed.
    scoped: Vec<ThreadId>,
}

/// Where a thread-local is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It has not been used by this thread.
    Nowhere,
    /// Here.
    At(*mut ()),
    /// It has been destroyed, since the thread is about to end.
    Gone,
}

impl Locals {
    /// Forgets everything: a run begins.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        if self.used {
            self.threads.iter_mut().for_each(Vec::clear);
            self.scoped.clear();
            self.used = false;
        }
    }

    /// How many values a thread has.
    pub(crate) fn count(&self, thread: ThreadId) -> usize {
        self.threads.get(thread.index()).map_or(0, Vec::len)
    }

    /// Whether two threads have used one thread-local.
    pub(crate) fn are_shared(&self) -> bool {
        let has = |thread: &[Local], key| thread.iter().any(|local| local.key == key);
        let shared = |(thread, own): (usize, &Vec<Local>)| {
            own.iter().any(|local| self.threads[..thread].iter().any(|other| has(other, local.key)))
        };
        self.used && self.threads.iter().enumerate().any(shared)
    }

    fn of(&mut self, thread: ThreadId) -> &mut Vec<Local> {
        self.used = true;
        if thread.index() >= self.threads.len() {
            self.threads.resize_with(thread.index() + 1, Vec::new);
        }
        &mut self.threads[thread.index()]
    }
}

/// Runs a closure on what belongs to the threads, with the caller's memory put aside.
fn with<R>(f: impl FnOnce(&mut Locals, ThreadId) -> R) -> R {
    let (session, thread) = context();
    let arena = arena::enter(std::ptr::null_mut());
    // SAFETY: the session outlives its fibers, and no other reference to it is in use while one runs;
    // this one ends here.
    let result = f(unsafe { &mut (*session).locals }, thread);
    arena::enter(arena);
    result
}

/// Where the thread-local with this key is, for the calling thread.
///
/// # Panics
///
/// Outside a check.
pub fn find(key: usize) -> Place {
    match locate(key) {
        NOWHERE => Place::Nowhere,
        GONE => Place::Gone,
        value => Place::At(value as *mut ()),
    }
}

const NOWHERE: usize = 0;
const GONE: usize = 1;

/// The address of a value, or why there is none. Rounds of loops that are tried have this answered, so it does not allocate.
#[inline(never)]
pub(crate) extern "C" fn locate(key: usize) -> usize {
    let (session, thread) = context();
    // SAFETY: as in `with`.
    let locals = unsafe { &(*session).locals };
    let all = locals.threads.get(thread.index()).map_or(&[][..], Vec::as_slice);
    let place = match all.iter().find(|local| local.key == key) {
        None => NOWHERE,
        Some(local) if local.value.is_null() => GONE,
        Some(local) => local.value.addr(),
    };
    forget_scratch();
    place
}

/// Says where a thread-local of the calling thread is. When the thread ends `free` is called with the
/// value; `drops` says whether that does anything but free memory.
///
/// # Safety
///
/// `free` may be called with `value`, once, by this thread.
///
/// # Panics
///
/// Outside a check.
pub unsafe fn add(key: usize, value: *mut (), free: unsafe fn(*mut ()), drops: bool) {
    with(|locals, thread| locals.of(thread).push(Local { key, value, free, drops }));
}

/// Says that the calling thread, of a scope, has done its work: what its thread-locals do when they are destroyed may come after the scope.
/// If that is visible, the fact is learnt. Whether it is known.
///
/// # Panics
///
/// Outside a check.
pub fn leave_scope() -> bool {
    let known = facts::fact(Fact::LocalsOutliveScopes) != 0;
    if !known {
        with(|locals, thread| {
            if locals.used {
                locals.scoped.push(thread);
            }
        });
    }
    known
}

/// Destroys the thread-locals of the calling thread, which is about to end.
pub(crate) fn end(session: *mut Session) {
    // SAFETY: as in `with`.
    if unsafe { (*session).locals.used } {
        destroy();
    }
}

#[cold]
#[inline(never)]
fn destroy() {
    // Destructors may use other thread-locals, and be the first to use some. Those that have nothing
    // to do when they are destroyed can be used by all of them.
    let scoped = with(|locals, thread| locals.scoped.contains(&thread));
    while let Some(local) = with(|locals, thread| take(locals.of(thread), true)) {
        // SAFETY: as the caller of `add` has promised; the value is taken once.
        let free = || unsafe { (local.free)(local.value) };
        let free = || if scoped { quietly(Fact::LocalsOutliveScopes, 1, free) } else { free() };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(free)) {
            // This ends a process, in Rust.
            panics::end_execution(&*payload);
        }
    }
    while let Some(local) = with(|locals, thread| take(locals.of(thread), false)) {
        // SAFETY: as above.
        unsafe { (local.free)(local.value) };
    }
}

/// Takes the youngest value that is left.
fn take(locals: &mut [Local], drops: bool) -> Option<Local> {
    let local = locals.iter_mut().rev().find(|local| local.drops == drops && !local.value.is_null())?;
    let taken = *local;
    local.value = std::ptr::null_mut();
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe fn nothing(_: *mut ()) {}

    fn local(key: usize, drops: bool) -> Local {
        Local { key, value: std::ptr::without_provenance_mut(key * 8), free: nothing, drops }
    }

    #[test]
    fn the_youngest_is_destroyed_first_and_each_once() {
        let mut locals = [local(1, true), local(2, false), local(3, true)];
        let mut next = |drops| take(&mut locals, drops).map(|local| local.key);
        assert_eq!([next(true), next(true), next(true)], [Some(3), Some(1), None]);
        assert_eq!([next(false), next(false)], [Some(2), None]);
    }

    #[test]
    fn what_was_destroyed_is_still_known() {
        let mut locals = [local(1, true)];
        let taken = take(&mut locals, true).expect("it is there");
        assert!(!taken.value.is_null() && locals[0].value.is_null());
    }

    #[test]
    fn a_run_begins_without_thread_locals() {
        let mut locals = Locals::default();
        locals.of(ThreadId(2)).push(local(1, true));
        assert_eq!([0, 2, 5].map(|thread| locals.count(ThreadId(thread))), [0, 1, 0]);
        locals.clear();
        assert_eq!(locals.count(ThreadId(2)), 0);
    }
}
