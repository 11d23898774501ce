//! The end of the process, as in [`std::process`].

use unpick_runtime::ops;

use crate::here;

pub use std::process::{ExitCode, Termination, id};

/// Ends the process, as [`std::process::exit`].
///
/// Inside a check it ends the execution. With code 0 that is a good end: threads that never end by
/// themselves are abandoned, and no destructors run. Threads that still have something to do when
/// one exits may do it before that, so the execution goes on with them as far as they come; what
/// they break on the way is a violation. Any other code is a violation.
///
/// ```
/// use unpick::sync::atomic::{AtomicBool, Ordering::Relaxed};
/// use unpick::{process, thread};
///
/// unpick::check(|| {
///     static READY: AtomicBool = AtomicBool::new(false);
///     READY.store(false, Relaxed);
///     // Without the exit this thread would be one that waits for ever.
///     thread::spawn(|| unpick::await_until(|| READY.load(Relaxed)));
///     process::exit(0);
/// });
/// ```
#[track_caller]
pub fn exit(code: i32) -> ! {
    if ops::in_check() { ops::exit(code, here!()) } else { std::process::exit(code) }
}

/// Ends the process at once, as [`std::process::abort`]. Inside a check it is a violation.
#[track_caller]
pub fn abort() -> ! {
    if ops::in_check() { ops::abort(here!()) } else { std::process::abort() }
}
