//! How programs die: signals, failed assertions, and calls that end the process at once.

use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use unpick_core::op::Site;
use unpick_core::violation::Kind;

use crate::entry::entries;
use crate::mode::{self, Mode};
use crate::ops;
use crate::real::pass;
use crate::session::{self, Session, depart_for_good};
use crate::sys;

entries! {
    abort => abort_program;
    __assert_fail => assertion;
    __assert => assertion_at_line;
}

extern "C" fn abort_program() -> ! {
    match mode::mode() {
        Mode::Program => {}
        Mode::Off => {
            pass!(c"abort", fn() -> ());
            sys::exit(134)
        }
        Mode::Before => {
            crate::start::fail("a library aborted in its constructors, before the program began");
            sys::exit(2)
        }
        Mode::Engine => {
            sys::write(2, b"unpick: the runtime has failed; please report this\n");
            sys::exit(70)
        }
    }
    let Some(caller) = ops::enter() else { sys::exit(70) };
    caller.fail(Kind::Abort)
}

/// A C string, as far as it is text.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

extern "C" fn assertion(
    condition: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    let Some(caller) = ops::enter() else {
        type Text = *const c_char;
        pass!(c"__assert_fail", fn(Text, Text, u32, Text) -> (), condition, file, line, function);
        sys::exit(134)
    };
    // SAFETY: the compiler passes strings.
    let (condition, file, function) = unsafe { (text(condition), text(file), text(function)) };
    let within = if function.is_empty() { String::new() } else { format!(" in {function}") };
    let message = format!("assertion `{condition}` failed{within}");
    caller.fail(Kind::Assertion { message, place: format!("{file}:{line}:1") })
}

extern "C" fn assertion_at_line(condition: *const c_char, file: *const c_char, line: i32) -> ! {
    assertion(condition, file, line as u32, std::ptr::null())
}

/// Signals that end a process, and what they mean.
const SIGNALS: [(i32, &str); 12] = [
    (libc::SIGSEGV, "a segmentation fault"),
    (libc::SIGBUS, "a bus error"),
    (libc::SIGFPE, "an arithmetic error, such as a division by zero"),
    (libc::SIGILL, "an illegal instruction"),
    (libc::SIGTRAP, "a trap"),
    (libc::SIGSYS, "a forbidden system call"),
    (libc::SIGABRT, "an abort"),
    (libc::SIGTERM, "SIGTERM, which it has sent to itself"),
    (libc::SIGPIPE, "SIGPIPE: nobody reads what it writes"),
    (libc::SIGALRM, "SIGALRM, which it does not handle"),
    (libc::SIGUSR1, "SIGUSR1, which it does not handle"),
    (libc::SIGUSR2, "SIGUSR2, which it does not handle"),
];

/// Those that another process may have sent.
const SENT: [i32; 5] = [libc::SIGTERM, libc::SIGPIPE, libc::SIGALRM, libc::SIGUSR1, libc::SIGUSR2];

/// Watches over crashes, and over threads that run without end.
pub(crate) fn install(hang_limit: Duration) {
    crate::pool::signal_stack();
    for (signal, _) in SIGNALS {
        handle(signal, on_crash);
    }
    handle(libc::SIGVTALRM, on_tick);
    handle(libc::SIGINT, on_interrupt);
    let every = libc::timeval { tv_sec: 0, tv_usec: 100_000 };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the timer is readable.
    unsafe { sys::call(libc::SYS_setitimer, [1, &raw const timer as usize, 0, 0, 0, 0]) };
    watch_for_rest(hang_limit);
}

/// In so many parts the time is divided after which a thread that rests is taken to rest for ever.
const PARTS: u32 = 4;

/// Watches over threads that rest: no time of the processor passes for them, so it is looked now and then. The signal is
/// that of the other watch.
fn watch_for_rest(hang_limit: Duration) {
    let part = (hang_limit / PARTS).max(Duration::from_millis(50));
    let every = libc::timespec { tv_sec: part.as_secs() as i64, tv_nsec: part.subsec_nanos().into() };
    let times = libc::itimerspec { it_interval: every, it_value: every };
    let mut timer = 0i32;
    // SAFETY: an event of zeroes is one; the kernel reads it and the times, and writes the number of the timer.
    unsafe {
        let mut event: libc::sigevent = MaybeUninit::zeroed().assume_init();
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = libc::SIGVTALRM;
        let arguments =
            [libc::CLOCK_MONOTONIC as usize, &raw const event as usize, &raw mut timer as usize, 0, 0, 0];
        if sys::call(libc::SYS_timer_create, arguments) == 0 {
            let arguments = [timer as usize, 0, &raw const times as usize, 0, 0, 0];
            sys::call(libc::SYS_timer_settime, arguments);
        }
    }
}

/// Whether the process was interrupted.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the process was interrupted.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// The first interrupt ends the exploration, the second the process.
unsafe extern "C" fn on_interrupt(_: i32, _: *mut libc::siginfo_t, _: *mut c_void) {
    if INTERRUPTED.swap(true, Ordering::Relaxed) {
        sys::exit(130);
    }
}

type Handler = unsafe extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void);

fn handle(signal: i32, handler: Handler) {
    // SAFETY: an action of zeroes is one, and the handler has the type that its flag asks for.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER | libc::SA_RESTART;
        libc::sigaction(signal, &action, null_mut());
    }
}

unsafe extern "C" fn on_crash(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes valid pointers to a handler of this kind.
    let (address, code, registers) = unsafe {
        let context = &*context.cast::<libc::ucontext_t>();
        ((*info).si_addr() as usize, (*info).si_code, context.uc_mcontext.gregs)
    };
    let instruction = registers[libc::REG_RIP as usize] as usize;
    // SAFETY: signals of these kinds have a sender; who asks for its own number changes nothing.
    if SENT.contains(&signal) && unsafe { (*info).si_pid() } as isize != unsafe { own_process() } {
        sys::exit(128 + signal);
    }
    if !mode::in_program() {
        let text =
            format!("unpick: signal {signal} in the runtime, at {instruction:#x}, address {address:#x}\n");
        sys::write(2, text.as_bytes());
        sys::exit(70);
    }
    mode::set(Mode::Engine);
    let what = SIGNALS.iter().find(|(number, _)| *number == signal).map_or("a signal", |(_, what)| what);
    let session = session::get();
    // SAFETY: the program runs, so there is a session, which nobody else uses.
    let s = unsafe { &mut *session };
    let fiber = s.threads[s.current.index()].fiber;
    let stack = registers[libc::REG_RSP as usize] as usize;
    let sent = code <= 0;
    let problem = if signal == libc::SIGSEGV && address.abs_diff(stack) < 1 << 16 && stack < fiber.top {
        String::from("the stack has overflowed")
    } else if signal == libc::SIGSEGV && address < 4096 && !sent {
        format!("{what}: a null pointer is used, address {address:#x}")
    } else if matches!(signal, libc::SIGSEGV | libc::SIGBUS) && !sent {
        format!("{what} at address {address:#x}")
    } else {
        String::from(what)
    };
    let kind = if signal == libc::SIGABRT { Kind::Abort } else { Kind::Crash { problem } };
    // Places are return addresses, which come after the instruction.
    s.fail(kind, Site(instruction as u64 + 1));
    depart_for_good(session)
}

unsafe fn own_process() -> isize {
    // SAFETY: asks for a number.
    unsafe { sys::call(libc::SYS_getpid, [0; 6]) }
}

/// What is said of a thread that does nothing visible for long.
pub(crate) const ENDLESS: &str = "the thread goes round without end, and does nothing that others could see";

/// What is said of a thread that the system does not let go on.
const RESTS: &str = "the thread waits in the system, and nothing lets it go on";

/// Looks whether the running thread rests.
fn on_part(s: &mut Session, instruction: usize) {
    let now = (s.execution.stats().runs, s.execution.position(s.current));
    let cpu = crate::explore::cpu();
    let (progress, before, parts) = s.rested;
    if progress != now || cpu > before + Duration::from_millis(20) {
        s.rested = (now, cpu, 0);
        return;
    }
    s.rested.2 = parts + 1;
    if parts + 1 >= PARTS && mode::in_program() {
        mode::set(Mode::Engine);
        s.rested.2 = 0;
        s.fail(Kind::Crash { problem: String::from(RESTS) }, Site(instruction as u64 + 1));
        depart_for_good(s)
    }
}

unsafe extern "C" fn on_tick(_: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    let session = session::get();
    if session.is_null() {
        return;
    }
    // SAFETY: the kernel passes valid pointers to a handler of this kind; the session is never freed.
    unsafe {
        if (*info).si_code == libc::SI_TIMER {
            let registers = (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
            return on_part(&mut *session, registers[libc::REG_RIP as usize] as usize);
        }
    }
    // SAFETY: the session is never freed. Where the engine was interrupted, numbers are read that it may be about to
    // change; then another tick tells.
    let s = unsafe { &mut *session };
    let now = (s.execution.stats().runs, s.execution.position(s.current));
    let (runs, position, ticks) = s.looked;
    if (runs, position) != now {
        s.looked = (now.0, now.1, 0);
        return;
    }
    s.looked.2 = ticks + 1;
    if ticks + 1 < s.limits.most_ticks {
        return;
    }
    if !mode::in_program() {
        // The thread is stopped when it next comes in.
        session::stop_soon();
        return;
    }
    mode::set(Mode::Engine);
    s.looked.2 = 0;
    // SAFETY: the kernel passes valid pointers to a handler of this kind.
    let registers = unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let problem = String::from(ENDLESS);
    s.fail(Kind::Crash { problem }, Site(registers[libc::REG_RIP as usize] as u64 + 1));
    depart_for_good(session)
}
