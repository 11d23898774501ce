//! Opens the buffers of the standard streams before a program prints.
//!
//! They must be born on the system heap, and so must the one in which a test harness captures what a test prints: memory of a
//! checked thread is taken over by the next execution. That buffer is reached by printing only, an empty text makes no
//! room in it, and nobody says whether there is one. So a line is printed where it cannot show if there is none: on an OS
//! thread that has file descriptors of its own, and no standard error among them. What a harness captures is inherited by threads.

#![allow(clippy::print_stderr, reason = "see above")]

use std::io::IsTerminal;

/// Opens them for the calling OS thread.
pub(crate) fn open() {
    let _ = (std::io::stdin(), std::io::stdout());
    if std::io::stderr().is_terminal() {
        // The least that shows, which is nothing.
        return eprint!("\r");
    }
    let aside = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        silence();
        eprintln!();
    });
    if aside.is_ok_and(|aside| aside.join().is_ok()) {
        return;
    }
    // An empty line in a log is better than a report that is lost.
    eprintln!();
}

/// Bytes of stack: enough to print a line.
const STACK: usize = 64 << 10;

/// Lets what this OS thread writes to standard error go nowhere, unless the system cannot do that.
#[cfg(target_os = "linux")]
fn silence() {
    // SAFETY: only the calling OS thread sees the new table of descriptors, and it uses none but that of standard error. The
    // first call copies the first three only, so that no other file is held open, and the second all.
    unsafe {
        let copied = libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_UNSHARE)
            == 0
            || libc::unshare(libc::CLONE_FILES) == 0;
        if copied {
            let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            // Standard error that is closed takes all, and says nothing.
            if nowhere < 0 || libc::dup2(nowhere, libc::STDERR_FILENO) < 0 {
                libc::close(libc::STDERR_FILENO);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn silence() {}
