//! Executions in processes of their own, with the engine's memory out of the program's reach.
//!
//! The engine's own memory is shared between this process and those that are made for executions; everything else is not.
//! So the engine goes on from where an execution has left it, and the program begins anew: its memory, its open files, and
//! whatever else the kernel knows of a process. While the program runs, the engine's memory cannot be written to: a stray
//! write is a crash of the program, with its place. That takes two system calls for each call of the engine, so
//! executions are isolated only where it is needed.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use unpick_core::error::Error;
use unpick_core::execution::Outcome;
use unpick_core::op::Site;
use unpick_core::violation::Kind;

use crate::crash;
use crate::heap;
use crate::mode::{self, Mode};
use crate::own_memory;
use crate::session::{self, Session};
use crate::standby::{self, BROKEN, TOLD};
use crate::sys;
use crate::watch::Watch;

/// Whether executions are isolated: only this number says so, which no stray write is likely to leave.
static ISOLATED: AtomicU64 = AtomicU64::new(0);
const ON: u64 = 0x51c3_9d2e_70b4_86af;

/// The pages that cannot be written to now: where they begin, and where they end.
static GUARDED: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// How often a process that runs an execution is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Isolates executions from now on.
///
/// # Errors
///
/// When the machine has no room for it.
pub(crate) fn begin() -> Result<(), Error> {
    if !is_on() {
        own_memory::share()?;
        ISOLATED.store(ON, Relaxed);
    }
    Ok(())
}

/// Whether executions are isolated.
pub(crate) fn is_on() -> bool {
    ISOLATED.load(Relaxed) == ON
}

/// Puts the engine's memory out of reach.
#[cold]
pub(crate) fn close() {
    let (from, to) = own_memory::range();
    GUARDED[0].store(from, Relaxed);
    GUARDED[1].store(to, Relaxed);
    sys::protect(from, to - from, libc::PROT_READ);
}

/// Lets the engine write to its memory.
#[cold]
pub(crate) fn open() {
    let [from, to] = [GUARDED[0].load(Relaxed), GUARDED[1].load(Relaxed)];
    sys::protect(from, to - from, libc::PROT_READ | libc::PROT_WRITE);
}

/// Whether an address is one that the program was kept from.
pub(crate) fn is_guarded(address: usize) -> bool {
    mode::is_guarded() && (GUARDED[0].load(Relaxed)..GUARDED[1].load(Relaxed)).contains(&address)
}

/// Runs one execution in a process of its own.
pub(crate) fn run(session: *mut Session) -> Outcome {
    // SAFETY: the session is never freed, and no reference to it is held while the other process runs.
    let s = || unsafe { &mut *session };
    s().ended = None;
    let mapped = heap::mapped();
    let process = match sys::fork() {
        0 => run_alone(session),
        process @ 1.. => process as i32,
        failed => {
            let problem =
                format!("no process for an execution: error {}; raise the limit on processes", -failed);
            s().search.error = Some(Error::Machine { problem });
            return Outcome::Rerun;
        }
    };
    let status = wait(process, s().limits.hang);
    heap::set_mapped(&mapped);
    if let Some(outcome) = s().ended.take() {
        return outcome;
    }
    if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == TOLD {
        sys::exit(TOLD);
    }
    if libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL {
        let problem = String::from("a process that ran an execution was killed; is there enough memory?");
        s().search.error = Some(Error::Machine { problem });
    }
    let problem = match libc::WIFSIGNALED(status) {
        // What the engine keeps for itself is out of reach, so this is what it has for the execution.
        false if libc::WEXITSTATUS(status) == BROKEN => String::from(
            "the program writes to memory that is not its own: the stack of one of its threads while that waits, or variables of the checker",
        ),
        true => format!("the process is ended by signal {}", libc::WTERMSIG(status)),
        false => format!("the process is ended with code {}, by a system call", libc::WEXITSTATUS(status)),
    };
    s().fail(Kind::Crash { problem }, Site(0));
    s().end()
}

/// Runs the execution, in the process that was made for it.
fn run_alone(session: *mut Session) -> ! {
    standby::end_with_parent();
    crash::start_clock();
    mode::guard();
    let outcome = session::run_here(session);
    // SAFETY: as in `run`.
    unsafe { (*session).ended = Some(outcome) };
    sys::exit(0)
}

/// Waits for a process to end, and watches over it.
fn wait(process: i32, hang: Duration) -> i32 {
    let mut watch = Watch::new(process, hang);
    // SAFETY: makes a descriptor for the process.
    let descriptor = unsafe { sys::call(libc::SYS_pidfd_open, [process as usize, 0, 0, 0, 0, 0]) };
    loop {
        if descriptor < 0 || sys::is_readable(descriptor as i32, LOOK) {
            break;
        }
        watch.look();
    }
    sys::close(descriptor as i32);
    sys::wait(process, 0).map_or(0, |(_, status)| status)
}

/// Says whose code runs, where the engine's memory is guarded.
#[cold]
pub(crate) fn set(new: Mode) {
    let in_program = mode::in_program();
    match (in_program, new) {
        (true, Mode::Program) => {}
        // A signal may come at any time: its handler finds memory that can be written to, or opens it.
        (true, _) => {
            mode::store(new);
            open();
        }
        (false, Mode::Program) => {
            mode::store(new);
            close();
        }
        (false, _) => mode::store(new),
    }
}
