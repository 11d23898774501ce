//! How programs die: signals, failed assertions, and calls that end the process at once.

use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

use unpick_core::op::Site;
use unpick_core::violation::{Kind, Point};

use crate::debugger;
use crate::entry::entries;
use crate::frames;
use crate::isolation;
use crate::mode::{self, Mode};
use crate::ops;
use crate::real::pass;
use crate::session::{self, Session, depart_for_good};
use crate::standby;
use crate::sys;
use crate::watch;

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
        Mode::Engine => standby::broken("it has aborted"),
    }
    let Some(caller) = ops::enter() else { sys::exit(standby::BROKEN) };
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
pub(crate) fn install() {
    crate::pool::signal_stack();
    for (signal, _) in SIGNALS {
        handle(signal, on_crash);
    }
    handle(libc::SIGVTALRM, on_tick);
    handle(libc::SIGINT, on_interrupt);
    std::panic::set_hook(Box::new(|panic| {
        // An exception of the program that nobody catches comes to our own functions, which abort.
        if !mode::in_program() {
            standby::broken(&panic.to_string());
        }
    }));
}

/// Begins to look regularly whether the program does something visible. Each process has a clock of its own.
pub(crate) fn start_clock() {
    let every = libc::timeval { tv_sec: 0, tv_usec: 100_000 };
    let timer = libc::itimerval { it_interval: every, it_value: every };
    // SAFETY: the timer is readable.
    unsafe { sys::call(libc::SYS_setitimer, [1, &raw const timer as usize, 0, 0, 0, 0]) };
}

unsafe extern "C" fn on_child(_: i32, _: *mut libc::siginfo_t, _: *mut c_void) {}

/// Lets the end of another process end a wait with [`sys::is_readable`], and nothing else; or no longer.
pub(crate) fn heed_children(heed: bool) {
    let how = if heed { libc::SIG_BLOCK } else { libc::SIG_UNBLOCK };
    if heed {
        handle(libc::SIGCHLD, on_child);
    } else {
        // SAFETY: as it was at first.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
    let mask = 1u64 << (libc::SIGCHLD - 1);
    // SAFETY: the mask is readable.
    unsafe { sys::call(libc::SYS_rt_sigprocmask, [how as usize, &raw const mask as usize, 0, 8, 0, 0]) };
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

/// What a signal has interrupted.
struct Interrupted {
    instruction: usize,
    stack: usize,
}

impl Interrupted {
    /// Of the context that a handler gets.
    unsafe fn new(context: *mut c_void) -> Interrupted {
        // SAFETY: the kernel passes valid pointers to a handler.
        let registers = unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
        let register = |number: i32| registers[number as usize] as usize;
        Interrupted { instruction: register(libc::REG_RIP), stack: register(libc::REG_RSP) }
    }

    /// Ends the execution with a violation of the thread that was interrupted.
    fn fail(&self, session: *mut Session, kind: Kind) -> ! {
        // SAFETY: the program runs, so there is a session, which nobody else uses.
        let s = unsafe { &mut *session };
        // The instruction tells enough where it is the user's, unless more is asked for.
        let top = s.threads[s.current.index()].fiber.top;
        let frames = match s.recorder.is_some() || !s.modules.is_of_user(self.instruction) {
            true => frames::walk_interrupted(self.instruction, self.stack, top),
            false => Vec::new(),
        };
        let user = frames.iter().map(|frame| frame.address).find(|&address| s.modules.is_of_user(address));
        // Places are return addresses, which come after the instruction.
        let site = user.filter(|_| !s.modules.is_of_user(self.instruction)).unwrap_or(self.instruction + 1);
        let site = Site(site as u64);
        let point = Point { thread: s.current, index: s.search.execution.position(s.current), site };
        if let Some(recorder) = &mut s.recorder {
            recorder.keep(point, &frames);
        }
        s.fail(kind, site);
        depart_for_good(session)
    }
}

unsafe extern "C" fn on_crash(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes valid pointers to a handler of this kind.
    let (address, code, at) =
        unsafe { ((*info).si_addr() as usize, (*info).si_code, Interrupted::new(context)) };
    let sent = code <= 0;
    // SAFETY: a signal that was sent has a sender.
    if SENT.contains(&signal) && sent && unsafe { (*info).si_pid() } != sys::own_process() {
        end_by(signal);
    }
    if !mode::in_program() {
        if signal == libc::SIGTRAP && debugger::is_on() {
            // The stop at a violation, and the debugger has gone.
            return;
        }
        if signal == libc::SIGPIPE {
            // Nobody listens any more.
            sys::exit(standby::TOLD);
        }
        if let Some((instruction, stack)) = frames::refuge() {
            // SAFETY: as above; the walk of a stack goes on there.
            let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
            registers[libc::REG_RIP as usize] = instruction as i64;
            registers[libc::REG_RSP as usize] = stack as i64;
            return;
        }
        // Nothing of ours can be relied on.
        if standby::ends_with_parent() {
            sys::exit(standby::BROKEN);
        }
        standby::broken(&format!("signal {signal} at {:#x}, address {address:#x}", at.instruction));
    }
    mode::set(Mode::Engine);
    let what = SIGNALS.iter().find(|(number, _)| *number == signal).map_or("a signal", |(_, what)| what);
    let session = session::get();
    // SAFETY: the program runs, so there is a session, which nobody else uses.
    let s = unsafe { &*session };
    let top = s.threads[s.current.index()].fiber.top;
    let problem = if signal == libc::SIGSEGV && isolation::is_guarded(address) {
        String::from(
            "the program writes to memory that is not its own, but the checker's: a pointer has gone astray",
        )
    } else if signal == libc::SIGSEGV && address.abs_diff(at.stack) < 1 << 16 && at.stack < top {
        String::from("the stack has overflowed")
    } else if signal == libc::SIGSEGV && address < 4096 && !sent {
        format!("{what}: a null pointer is used, address {address:#x}")
    } else if matches!(signal, libc::SIGSEGV | libc::SIGBUS) && !sent {
        format!("{what} at address {address:#x}")
    } else {
        String::from(what)
    };
    at.fail(session, if signal == libc::SIGABRT { Kind::Abort } else { Kind::Crash { problem } })
}

/// Ends the process by a signal that somebody else has sent, as if it were not handled.
fn end_by(signal: i32) -> ! {
    // SAFETY: the process ends.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
    sys::kill(sys::own_process(), signal);
    sys::exit(128 + signal)
}

/// What is said of a thread that does nothing visible for long.
pub(crate) const ENDLESS: &str = "the thread goes round without end, and does nothing that others could see";

unsafe extern "C" fn on_tick(_: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    let session = session::get();
    if session.is_null() {
        return;
    }
    // SAFETY: the kernel passes valid pointers to a handler of this kind.
    let (code, call, at) = unsafe { ((*info).si_code, watch::number(info), Interrupted::new(context)) };
    let in_program = mode::in_program();
    if code == libc::SI_QUEUE {
        if in_program {
            mode::set(Mode::Engine);
            at.fail(session, Kind::Crash { problem: watch::told(call) });
        }
        return;
    }
    if in_program {
        mode::set(Mode::Engine);
    } else if mode::is_guarded() {
        // The engine is about to do so, or has done it.
        isolation::open();
    }
    // SAFETY: the session is never freed. Where the engine was interrupted, numbers are read that it may be about to
    // change; then another tick tells.
    let s = unsafe { &mut *session };
    let now = (s.search.execution.stats().runs, s.search.execution.position(s.current));
    let (runs, position, ticks) = s.looked;
    let ticks = if (runs, position) == now { ticks + 1 } else { 0 };
    s.looked = (now.0, now.1, ticks);
    if ticks >= s.limits.most_ticks {
        if in_program {
            s.looked.2 = 0;
            at.fail(session, Kind::Crash { problem: String::from(ENDLESS) });
        }
        // The thread is stopped when it next comes in.
        session::stop_soon();
        if ticks >= s.limits.most_ticks.saturating_mul(10) {
            standby::broken("it goes round without end");
        }
    }
    if in_program {
        mode::set(Mode::Program);
    }
}
