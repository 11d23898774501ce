//! Faults of threads under test: stack overflows, and addresses that must not be used.
//!
//! Fiber stacks end in a guard. If a fault hit one, the handler says so with the means that a
//! signal handler has, and ends the process. Any other fault in the code of a program under test is
//! a violation: the handler makes the fiber go on in a function that records it and leaves the
//! fiber for good, as if the faulting instruction had called that function. All other faults go to
//! the handler that was there before.
//!
//! Locks of the standard library that the thread held, of standard output for example, stay taken.
//!
//! The message of an overflow has a token if the program was running, and not the engine, whose data may be in
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

use crate::ops::leave_for_good;
use crate::session::Session;
use crate::{arena, current, site, stacks};

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

/// Seconds that it may take to find the token.
const PATIENCE: libc::c_uint = 10;

/// An OS thread that runs fibers, for as long as it does.
pub(crate) struct Guarded {
    stack: Option<usize>,
    old: libc::stack_t,
}

/// Says whose fibers this OS thread runs.
pub(crate) fn guard_thread(session: &Session) -> Guarded {
    SESSION.set(session);
    let stack = stacks::take_handler(session.limits.stack_size);
    // SAFETY: a zeroed record is valid; the stack stays mapped until the old one is put back.
    let old = unsafe {
        let mut old: libc::stack_t = std::mem::zeroed();
        if let Some(stack) = stack {
            let ours =
                libc::stack_t { ss_sp: stack as *mut libc::c_void, ss_flags: 0, ss_size: stacks::HANDLER };
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
            if libc::sigaltstack(&self.old, std::ptr::null_mut()) != 0 {
                return;
            }
        }
        stacks::give_handler_back(stack);
    }
}

unsafe extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid record for a fault.
    let address = unsafe { (*info).si_addr() } as usize;
    let session = SESSION.get();
    if !session.is_null() {
        // SAFETY: the worker that set the pointer owns the session and is the one that faulted.
        let at_rest = unsafe { &*session };
        if let Some(thread) = at_rest.fibers.iter().position(|fiber| fiber.guards(address)) {
            overflow(at_rest, ThreadId(thread as u32));
        }
        // SAFETY: the kernel passes a valid context.
        if arena::is_active() && unsafe { redirect(session.cast_mut(), context) } {
            // SAFETY: the interrupted code is the program's, so nobody else is using the session; the context is
            // valid.
            unsafe { (*session.cast_mut()).fault = (address, writes(context), registers(context)) };
            return;
        }
        // What is looked at by the engine is no use by the program.
        if at_rest.freed.holds(address) {
            // SAFETY: the engine has been interrupted where it reads memory of the program, and uses nothing of this meanwhile.
            unsafe { (*session.cast_mut()).freed.give_up(address) };
            return;
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

/// Makes the interrupted thread go on in [`crash_landing`], as if the instruction had called it; `false` if it was not on
/// its fiber.
///
/// # Safety
///
/// The context must be the kernel's, and that of the OS thread of the session.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
unsafe fn redirect(session: *mut Session, context: *mut libc::c_void) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let stack = registers[libc::REG_RSP as usize] as usize;
        let Some((current, thread)) = current::get() else { return false };
        let fibers = &(*session).fibers;
        if current != session || !fibers.get(thread.index()).is_some_and(|fiber| fiber.contains(stack)) {
            return false;
        }
        let stack = stack - size_of::<usize>();
        // Whoever unwinds takes it for a place to return to, which comes after the instruction. Nobody returns there.
        *(stack as *mut usize) = registers[libc::REG_RIP as usize] as usize + 1;
        registers[libc::REG_RSP as usize] = stack as i64;
        registers[libc::REG_RIP as usize] = crash_landing as *const () as i64;
    }
    true
}

/// Other machines: what is interrupted goes on.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
unsafe fn redirect(_: *mut Session, _: *mut libc::c_void) -> bool {
    false
}

/// The registers of the interrupted thread.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
unsafe fn registers(context: *mut libc::c_void) -> [usize; 16] {
    let mut seen = [0; 16];
    // SAFETY: the kernel's context.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    for (seen, register) in seen.iter_mut().zip(registers) {
        *seen = *register as usize;
    }
    seen
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
unsafe fn registers(_: *mut libc::c_void) -> [usize; 16] {
    [0; 16]
}

/// Whether the access that has faulted was a write.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
unsafe fn writes(context: *mut libc::c_void) -> bool {
    // SAFETY: the kernel's context.
    let error = unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_ERR as usize] };
    error & 2 != 0
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
unsafe fn writes(_: *mut libc::c_void) -> bool {
    false
}

/// Where a thread goes on that has faulted: makes room on the stack, whose alignment may be any, and calls [`crashed`].
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[unsafe(naked)]
unsafe extern "C" fn crash_landing() -> ! {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "and rsp, -16",
        "cld",
        "call {crashed}",
        "ud2",
        ".cfi_endproc",
        crashed = sym crashed,
    )
}

/// Records the fault of the running thread, and leaves it for good.
#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    expect(dead_code, reason = "there, a thread that has faulted cannot be made to go on elsewhere")
)]
extern "C" fn crashed() -> ! {
    let (session, thread) = current::context();
    arena::enter(std::ptr::null_mut());
    // SAFETY: the session outlives its fibers, and no reference to it is in use while the code of
    // the program runs, which is where the fault was.
    unsafe {
        let (address, writes, registers) = (*session).fault;
        (*session).crashed(thread, address, writes, &registers);
    }
    leave_for_good(session, thread)
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
    // In the execution that is thrown away the program does not run on its own arena.
    let own = session.heap.arenas.get(thread.index()).and_then(Option::as_ref);
    if let (true, Some(own)) = (orderly && session.heap.has_allocator, own) {
        let arena = (&raw const **own).cast_mut();
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
    session.search.execution.graph().event(event).site
}

/// The last event before the overflow: of the thread, or the one that spawned it.
fn last(session: &Session, thread: ThreadId) -> Option<EventId> {
    match session.search.execution.position(thread) {
        0 => session.search.execution.graph().spawn_of(thread),
        count => Some(EventId { thread, index: count - 1 }),
    }
}

/// The schedule that leads to the overflow.
fn token(session: &Session, thread: ThreadId) -> String {
    let graph = session.search.execution.graph();
    let order = last(session, thread).map(|last| linearise(graph, &graph.closure(&[last])));
    Schedule::new(graph, &order.unwrap_or_default(), session.model).to_string()
}
