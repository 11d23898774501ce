//! What an execution may do, and what counts as a violation.

use unpick_core::timeouts::Timeouts;
use unpick_driver::search::LoopLimits;

/// Limits that the runtime keeps.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Whether an interrupt of the process ends the check.
    pub interrupts: bool,
    /// Bytes of stack for each thread.
    pub stack_size: usize,
    /// What is done about loops.
    pub loops: LoopLimits,
    /// Whether a thread that waits for a condition or is parked may wake up without a reason.
    pub spurious_wakeups: bool,
    /// Whether an execution is over when the main thread has ended, and threads that are stuck then are
    /// no violation.
    pub abandons: bool,
    /// Whether memory that is left behind is a violation.
    pub leaks: bool,
    /// When waits with a limit on time give up.
    pub timeouts: Timeouts,
    /// Whether that is so of memory only that has an owner, such as a shared pointer.
    pub only_owned_leaks: bool,
    /// Whether threads have memory of their own, if the global allocator allows it.
    pub arenas: bool,
    /// Whether the program may start threads that nobody sees; if not, that ends the check.
    pub unseen_threads: bool,
    /// Whether who reads a lock already may have to wait, to read it once more, for a thread that waits to write.
    pub writers_go_first: bool,
}

impl Default for Limits {
    /// Nothing is looked for that is not in the graph: for programs that are made from data.
    fn default() -> Limits {
        Limits {
            interrupts: false,
            stack_size: 256 * 1024,
            loops: LoopLimits { recognised: true, rounds: 100 },
            spurious_wakeups: false,
            abandons: false,
            leaks: false,
            timeouts: Timeouts::Any,
            only_owned_leaks: false,
            arenas: true,
            unseen_threads: true,
            writers_go_first: true,
        }
    }
}
