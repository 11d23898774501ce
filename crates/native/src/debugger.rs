//! One execution under a debugger: nobody listens to messages, the program's output is seen, and the execution stops where the
//! violation shows.

use std::arch::asm;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use unpick_core::violation::Violation;

use crate::session::thread_name;
use crate::sys;

static ON: AtomicBool = AtomicBool::new(false);

/// Whether the process runs under a debugger.
pub(crate) fn is_on() -> bool {
    ON.load(Relaxed)
}

/// Says that it does.
pub(crate) fn begin() {
    ON.store(true, Relaxed);
}

/// Stops where a violation shows, if there is a debugger.
pub(crate) fn stop(violation: &Violation) {
    if is_on() {
        say(&format!("{} in {}", violation.title(), thread_name(violation.point.thread)));
        // SAFETY: a trap, which the debugger takes; it changes nothing.
        unsafe { asm!("int3", options(nomem, nostack, preserves_flags)) };
    }
}

/// Tells whoever sits at the debugger.
pub(crate) fn say(text: &str) {
    sys::write(2, format!("unpick: {text}\n").as_bytes());
}
