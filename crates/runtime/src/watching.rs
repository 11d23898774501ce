//! Which threads are watched for loops that wait.

use unpick_core::thread_set::ThreadSet;

use crate::trial::Trials;

/// A position that no thread reaches.
pub(crate) const NEVER: u32 = u32::MAX;

/// Who is watched, and from where on.
pub(crate) struct Watching {
    /// Threads of a sampled execution that are watched, since they go round.
    pub(crate) threads: ThreadSet,
    /// Tries rounds of loops.
    pub(crate) trials: Trials,
    /// The event of the running thread from which on its loops are watched.
    pub(crate) from: u32,
    /// Whether threads may be watched in this run: if not, their ops all take one path.
    pub(crate) any: bool,
}

impl Default for Watching {
    fn default() -> Watching {
        Watching { threads: ThreadSet::new(), trials: Trials::default(), from: NEVER, any: false }
    }
}
