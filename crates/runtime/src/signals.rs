//! Stack overflow of a thread under test: a message and an end, instead of a bare signal.
//!
//! Fiber stacks end in a guard page. The handler looks whether a fault hit one, says so with the
//! means that a signal handler has, and ends the process; all other faults go to the handler that
//! was there before.
//!
//! The message has a token if the program was running, and not the engine, whose data may be in
//! disorder. The handler has a stack of its own with room for that. What it allocates comes from the
//! thread's arena, where nothing is needed any more, and never from a heap that the fault may have
//! left locked. Should it hang all the same, an alarm ends the process.

use std::cell::Cell;
use std::fmt::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use unpick_core::event::EventId;
use unpick_core::op::{Site, ThreadId};
use unpick_core::schedule::{Schedule, linearise};

use crate::session::Session;
use crate::{arena, current, site};

thread_local! {
    static SESSION: Cell<*const Session> = const { Cell::new(std::ptr::null()) };
}

static OLD: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Installs the handlers; once.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (signal, old) in SIGNALS.iter().zip(&OLD) {
            // SAFETY: a zeroed action is valid; the handler matches SA_SIGINFO; the old action is
            // leaked on purpose, for the handler to read.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = handler as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                let before = Box::leak(Box::new(std::mem::zeroed::<libc::sigaction>()));
                if libc::sigaction(*signal, &action, before) == 0 {
                    old.store(before as *const libc::sigaction as usize, Ordering::Release);
                }
            }
        }
    });
}

/// Bytes of stack for the handler. What std gives every thread is enough for a message only.
const HANDLER_STACK: usize = 256 * 1024;
/// Seconds that it may take to find the token.
const PATIENCE: libc::c_uint = 10;

/// An OS thread that runs fibers, for as long as it does.
pub(crate) struct Guarded {
    stack: Option<usize>,
    old: libc::stack_t,
}

/// Says whose fibers this OS thread runs.
pub(crate) fn guard_thread(session: *const Session) -> Guarded {
    SESSION.set(session);
    let stack = arena::map(0, HANDLER_STACK);
    // SAFETY: a zeroed record is valid; the stack stays mapped until the old one is put back.
    let old = unsafe {
        let mut old: libc::stack_t = std::mem::zeroed();
        if let Some(stack) = stack {
            let ours =
                libc::stack_t { ss_sp: stack as *mut libc::c_void, ss_flags: 0, ss_size: HANDLER_STACK };
            libc::sigaltstack(&ours, &mut old);
        }
        old
    };
    Guarded { stack, old }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        SESSION.set(std::ptr::null());
        let Some(stack) = self.stack else { return };
        // SAFETY: the record is what the system gave; our stack is not in use outside the handler.
        unsafe {
            if libc::sigaltstack(&self.old, std::ptr::null_mut()) == 0 {
                libc::munmap(stack as *mut libc::c_void, HANDLER_STACK);
            }
        }
    }
}

unsafe extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid record for a fault.
    let address = unsafe { (*info).si_addr() } as usize;
    let session = SESSION.get();
    if !session.is_null() {
        // SAFETY: the worker that set the pointer owns the session and is the one that faulted.
        let session = unsafe { &*session };
        if let Some(thread) = session.fibers.iter().position(|fiber| fiber.guards(address)) {
            overflow(session, ThreadId(thread as u32));
        }
    }
    let index = SIGNALS.iter().position(|&known| known == signal).unwrap_or(0);
    let old = OLD[index].load(Ordering::Acquire) as *const libc::sigaction;
    // SAFETY: the old action is leaked; calling or restoring it is what would have happened
    // without us.
    unsafe {
        if old.is_null() || (*old).sa_sigaction == libc::SIG_DFL || (*old).sa_sigaction == libc::SIG_IGN {
            libc::signal(signal, libc::SIG_DFL);
        } else if (*old).sa_flags & libc::SA_SIGINFO != 0 {
            let call: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                std::mem::transmute((*old).sa_sigaction);
            call(signal, info, context);
        } else {
            let call: extern "C" fn(libc::c_int) = std::mem::transmute((*old).sa_sigaction);
            call(signal);
        }
    }
}

/// Standard error, as a signal handler may use it.
struct Stderr;

impl fmt::Write for Stderr {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: writing bytes we own to standard error.
        unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
        Ok(())
    }
}

/// Says that a thread has run out of stack, and ends the process.
fn overflow(session: &Session, thread: ThreadId) -> ! {
    // The program runs on the memory of its thread, the engine does not.
    let arena = arena::enter(std::ptr::null_mut());
    let running = current::get().is_some_and(|(_, running)| running == thread);
    let orderly = running && !arena.is_null();
    current::set(std::ptr::null_mut(), None);
    // Nothing can be done about a closed standard error.
    let _ = tell(session, thread, orderly);
    if orderly && session.has_allocator {
        extern "C" fn give_up(_: libc::c_int) {
            // SAFETY: ends the process without running anything.
            unsafe { libc::_exit(2) }
        }
        // SAFETY: the handler does what a handler may do; the arena is that of the faulting thread,
        // which does not go on.
        unsafe {
            libc::signal(libc::SIGALRM, give_up as *const () as usize);
            libc::alarm(PATIENCE);
            (*arena).reset();
        }
        arena::enter(arena);
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| token(session, thread)));
        let _ = found.map(|token| writeln!(Stderr, "replay: UNPICK_REPLAY={token}"));
    }
    // SAFETY: ends the process without running anything.
    unsafe { libc::_exit(2) }
}

/// Writes what happened, without a heap.
fn tell(session: &Session, thread: ThreadId, orderly: bool) -> fmt::Result {
    let out = &mut Stderr;
    let bytes = session.limits.stack_size;
    write!(out, "\nunpick: error: stack overflow in ")?;
    match thread {
        ThreadId::MAIN => write!(out, "the main thread")?,
        thread => write!(out, "thread {thread}")?,
    }
    write!(out, " of the program under test, which has {bytes} bytes of stack")?;
    let (what, site) = match last(session, thread).filter(|_| orderly) {
        Some(last) if last.thread == thread => ("its last operation was", site_of(session, last)),
        Some(spawn) => ("it was spawned", site_of(session, spawn)),
        None => ("the last new operation was", session.pulse.site()),
    };
    if let Some(place) = site::location(site) {
        write!(out, "; {what} at {place}")?;
    }
    writeln!(out, "; recurse less, or raise the stack size: Check::stack_size, or UNPICK_STACK_SIZE in bytes")
}

fn site_of(session: &Session, event: EventId) -> Site {
    session.execution.graph().event(event).site
}

/// The last event before the overflow: of the thread, or the one that spawned it.
fn last(session: &Session, thread: ThreadId) -> Option<EventId> {
    match session.execution.position(thread) {
        0 => session.execution.graph().spawn_of(thread),
        count => Some(EventId { thread, index: count - 1 }),
    }
}

/// The schedule that leads to the overflow.
fn token(session: &Session, thread: ThreadId) -> String {
    let graph = session.execution.graph();
    let order = last(session, thread).map(|last| linearise(graph, &graph.closure(&[last])));
    Schedule::new(graph, &order.unwrap_or_default(), session.model).to_string()
}
