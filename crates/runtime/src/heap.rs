//! The memory that threads under test allocate from.

use crate::arena::Arena;

/// Who has which memory.
#[derive(Default)]
pub(crate) struct Heap {
    /// What each thread allocates from, if it is not the system heap.
    pub(crate) arenas: Vec<Option<Box<Arena>>>,
    /// Memory that belongs to the run and to no thread.
    pub(crate) common: Option<Box<Arena>>,
    /// What threads have for memory where that is the system heap.
    pub(crate) keeping: Option<Box<Arena>>,
    /// Whether threads allocate from arenas.
    pub(crate) on_arenas: bool,
    /// Whether the global allocator is ours.
    pub(crate) has_allocator: bool,
    /// Whether the program ever had memory of the system heap.
    pub(crate) spilled: bool,
    /// Whether the program ever asked for memory that outlives a run.
    pub(crate) outside: bool,
    /// Whether a thread has no arena, since there are no more.
    pub(crate) bare: bool,
}
