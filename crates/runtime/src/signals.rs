//! Faults of threads under test: stack overflows, and addresses that must not be used.
//!
//! Fiber stacks end in a guard page. If a fault hit one, the handler says so with the means that a
//! signal handler has, and ends the process. Any other fault in the code of a program under test is
//! a violation: the handler makes the fiber go on in a function that records it and leaves the
//! fiber for good, as if the faulting instruction had called that function. All other faults go to
//! the handler that was there before.
//!
//! Locks of the standard library that the thread held, of standard output for example, stay taken.

use std::cell::Cell;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ops::leave_for_good;
use crate::session::Session;
use crate::{arena, current};

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

/// Says whose fibers this OS thread runs. The handler runs on the alternate stack that std gives
/// every thread.
pub(crate) fn prepare_thread(session: *const Session) {
    SESSION.set(session);
}

/// Says that this OS thread runs no fibers any more.
pub(crate) fn leave_thread() {
    SESSION.set(std::ptr::null());
}

unsafe extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid record for a fault.
    let address = unsafe { (*info).si_addr() } as usize;
    let session = SESSION.get();
    if !session.is_null() {
        // SAFETY: the worker that set the pointer owns the session and is the one that faulted.
        let fibers = unsafe { &(*session).fibers };
        if let Some(thread) = fibers.iter().position(|fiber| fiber.guards(address)) {
            overflow(thread);
        }
        // SAFETY: the kernel passes a valid context.
        if arena::is_active() && unsafe { redirect(session.cast_mut(), address, context) } {
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

/// Makes the thread that has faulted go on in [`landing`]; `false` if it was not on its fiber.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
unsafe fn redirect(session: *mut Session, address: usize, context: *mut libc::c_void) -> bool {
    // SAFETY: as the caller promises; the interrupted code is the program's, so nobody else is
    // using the session.
    unsafe {
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let stack = registers[libc::REG_RSP as usize] as usize;
        let Some((current, thread)) = current::get() else { return false };
        let fibers = &(*session).fibers;
        if current != session || !fibers.get(thread.index()).is_some_and(|fiber| fiber.contains(stack)) {
            return false;
        }
        let mut seen = [0; 16];
        for (seen, register) in seen.iter_mut().zip(registers.iter()) {
            *seen = *register as usize;
        }
        (*session).fault = (address, seen);
        let stack = stack - size_of::<usize>();
        *(stack as *mut usize) = registers[libc::REG_RIP as usize] as usize;
        registers[libc::REG_RSP as usize] = stack as i64;
        registers[libc::REG_RIP as usize] = landing as *const () as i64;
    }
    true
}

/// Other machines: the fault is not ours to handle.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
unsafe fn redirect(_: *mut Session, _: usize, _: *mut libc::c_void) -> bool {
    false
}

/// Where a thread goes on that has faulted, with any alignment of its stack.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[unsafe(naked)]
unsafe extern "C" fn landing() -> ! {
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
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
extern "C" fn crashed() -> ! {
    let (session, thread) = current::context();
    arena::enter(std::ptr::null_mut());
    // SAFETY: the session outlives its fibers, and no reference to it is in use while the code of
    // the program runs, which is where the fault was.
    unsafe {
        let (address, registers) = (*session).fault;
        (*session).crashed(thread, address, &registers);
    }
    leave_for_good(session, thread)
}

/// Says that a thread has run out of stack, and ends the process.
fn overflow(thread: usize) -> ! {
    let mut digits = [0u8; 20];
    let mut start = digits.len();
    let mut rest = thread;
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let parts: [&[u8]; 3] = [
        b"\nunpick: error: stack overflow in thread T",
        &digits[start..],
        b" of the program under test; recurse less, or raise the stack size: Check::stack_size, or UNPICK_STACK_SIZE in bytes\n",
    ];
    for part in parts {
        // SAFETY: writing bytes we own to standard error.
        unsafe { libc::write(2, part.as_ptr().cast(), part.len()) };
    }
    // SAFETY: ends the process without running anything.
    unsafe { libc::_exit(2) }
}
