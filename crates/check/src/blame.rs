//! Why a read may miss a write that came earlier: where synchronisation is missing.

use unpick_core::clock::{join, knows};
use unpick_core::event::{Event, EventId};
use unpick_core::graph::Graph;

/// What keeps a write from being known to a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The reading thread has seen nothing that came after the write.
    Unrelated,
    /// This earlier read saw something later, but does not acquire.
    NoAcquire(EventId),
    /// This earlier read acquires, but the write that it saw does not release.
    NoRelease(EventId, EventId),
}

/// Why `read` does not know of `missed`.
pub fn blame(graph: &Graph, read: EventId, missed: EventId) -> Blame {
    if missed.thread == read.thread || !knows(graph.porf(read), missed) {
        return Blame::Unrelated;
    }
    // The first read of the thread after which the write is before it in `po ∪ rf`.
    let mut prefix = Vec::new();
    for index in 0..read.index {
        let id = EventId { thread: read.thread, index };
        let event = graph.event(id);
        prefix.clear();
        prefix.extend_from_slice(graph.porf(id));
        if event.is_read() && !event.rf.is_init() {
            join(&mut prefix, graph.porf(event.rf));
        }
        if !knows(&prefix, missed) || !event.is_read() || event.rf.is_init() {
            continue;
        }
        if !event.has(Event::ACQUIRES) {
            return Blame::NoAcquire(id);
        }
        if !knows(graph.published(event.rf), missed) {
            return Blame::NoRelease(id, event.rf);
        }
    }
    Blame::Unrelated
}
