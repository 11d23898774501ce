//! What an execution may do, and what counts as a violation.

use unpick_core::timeouts::Timeouts;

/// Limits that the runtime keeps.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of stack for each thread.
    pub stack_size: usize,
    /// Whether loops that only wait are recognised; if not, they go on until they are cut.
    pub loops: bool,
    /// How often a loop may come to the same place, and leave nothing behind, before it is cut.
    pub max_rounds: usize,
    /// Whether a thread that waits for a condition or is parked may wake up without a reason.
    pub spurious_wakeups: bool,
    /// Whether an execution is over when the main thread has ended, and threads that are stuck then are
    /// no violation.
    pub abandons: bool,
    /// Whether memory that is left behind is a violation.
    pub leaks: bool,
    /// When waits with a limit on time give up.
    pub timeouts: Timeouts,
    /// Whether the exploration is over when an execution was cut at the limit on events.
    pub ends_at_cut: bool,
    /// Whether that is so of memory only that has an owner, such as a shared pointer.
    pub only_owned_leaks: bool,
    /// Whether threads have memory of their own, if the global allocator allows it.
    pub arenas: bool,
}
