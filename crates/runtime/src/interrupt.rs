//! Ctrl-C: checks stop, and tell how far they have come.
//!
//! While somebody listens, and only then, the first SIGINT sets a flag and gives the signal its default action
//! back, so that the second one ends the process at once. Whoever carries out a check looks at the flag now and
//! then. If the program has an action of its own for the signal, or ignores it, that stays as it is. Once the flag
//! is set, no check of this process does anything any more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static LISTENERS: Mutex<Listeners> = Mutex::new(Listeners { count: 0, code: None });
static FEWER: Condvar = Condvar::new();

struct Listeners {
    count: usize,
    /// The exit code of the process, as far as is known.
    code: Option<i32>,
}

fn listeners() -> MutexGuard<'static, Listeners> {
    LISTENERS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Whether there was a SIGINT while somebody listened.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Somebody who listens, until it is dropped.
#[derive(Debug)]
#[must_use = "nobody listens any more once it is dropped"]
pub struct Listening(());

/// Listens for SIGINT, unless the program has an action of its own for it.
pub fn listen() -> Listening {
    let mut listeners = listeners();
    listeners.count += 1;
    if listeners.count == 1 && !requested() && handler_now() == Some(libc::SIG_DFL) {
        // What a handler may do. Programs under test may be interrupted on small stacks, so it has one of
        // its own; calls that were interrupted are made again.
        set_handler(
            note as *const () as libc::sighandler_t,
            libc::SA_RESETHAND | libc::SA_RESTART | libc::SA_ONSTACK,
        );
    }
    Listening(())
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut listeners = listeners();
        listeners.count -= 1;
        if listeners.count == 0 {
            // An action that the program has set meanwhile stays.
            if handler_now() == Some(note as *const () as libc::sighandler_t) {
                set_handler(libc::SIG_DFL, 0);
            }
            FEWER.notify_all();
        }
    }
}

/// Ends the process as soon as nobody listens any more. Of the codes of all who call this, the lowest is that of
/// the process.
pub fn end_process(code: i32) -> ! {
    let mut listeners = listeners();
    listeners.code = Some(listeners.code.map_or(code, |other| other.min(code)));
    while listeners.count > 0 {
        listeners = FEWER.wait(listeners).unwrap_or_else(|poisoned| poisoned.into_inner());
    }
    // The lock is kept: one thread is enough to end the process.
    std::process::exit(listeners.code.unwrap_or(code))
}

extern "C" fn note(_: libc::c_int) {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// The handler of SIGINT.
fn handler_now() -> Option<libc::sighandler_t> {
    // SAFETY: a zeroed action is valid; asking changes nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(libc::SIGINT, std::ptr::null(), &mut action) == 0).then_some(action.sa_sigaction)
    }
}

fn set_handler(handler: libc::sighandler_t, flags: libc::c_int) {
    // SAFETY: a zeroed action is valid; the handler is the default, or takes a signal and only stores to an
    // atomic. If it cannot be set, the signal does what it did.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        libc::sigaction(libc::SIGINT, &action, std::ptr::null_mut());
    }
}

/// Makes this process the parent of descendants whose own parents end: an interrupt ends cargo at once, and the
/// tests that it runs a moment later. Where the system does not know of this, nothing happens.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // SAFETY: sets an attribute of the process, and touches no memory.
    unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
    }
}

/// Waits until all children of this process have ended, adopted ones too; their exit codes.
pub fn wait_for_children() -> Vec<i32> {
    let mut codes = Vec::new();
    loop {
        let mut status = 0;
        // SAFETY: a valid place for the status.
        let child = unsafe { libc::waitpid(-1, &mut status, 0) };
        if child > 0 {
            codes.extend(libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)));
        } else if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return codes;
        }
    }
}
