//! State of threads that is not in memory.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use unpick_core::op::ThreadId;

use crate::seeks::Offsets;
use crate::session::Session;

/// What belongs to the state of a thread and is not in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Unseen {
    pub(crate) clock: u64,
    pub(crate) seed: Option<u32>,
    pub(crate) drawn: u64,
    /// Where files stand whose offsets its rounds use.
    pub(crate) offsets: Offsets,
}

/// Numbers for such states. None is given twice; if there are very many states, one may get another number later.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    known: HashMap<Unseen, u64, BuildHasherDefault<DefaultHasher>>,
    given: u64,
}

impl Numbers {
    /// How many states are kept.
    const MOST: usize = 1 << 16;

    /// The number of a state.
    pub(crate) fn of(&mut self, state: Unseen) -> u64 {
        if self.known.len() > Numbers::MOST {
            self.known.clear();
        }
        *self.known.entry(state).or_insert_with(|| {
            self.given += 1;
            self.given
        })
    }
}

impl Session {
    /// A number for what belongs to the state of a thread and is not in memory: what its clock has shown last, what random
    /// numbers come next, and where files stand.
    pub(crate) fn hidden(&mut self, thread: ThreadId) -> u64 {
        let mut unseen = self.threads[thread.index()].unseen();
        unseen.clock = self.search.passing.seen(thread);
        if self.seeks.any() {
            unseen.offsets = self.seeks.offsets(thread);
        }
        self.unseen.of(unseen)
    }
}
