//! Why a read may miss a write that came earlier: where synchronisation is missing.

use unpick_core::clock::{join, knows};
use unpick_core::event::{Event, EventId};
use unpick_core::graph::Graph;
use unpick_core::op::ThreadId;

use crate::steps::Steps;

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

/// The next write after the one that `read` saw, among those that stand before it in the order of the graph.
pub fn newer_write(graph: &Graph, read: EventId) -> Option<EventId> {
    earlier_write(graph, read, graph.event(read).rf)
}

/// The next write after `write` itself, among those that stand before it in the order of the graph.
pub fn overtaken_write(graph: &Graph, write: EventId) -> Option<EventId> {
    earlier_write(graph, write, write)
}

/// The first write behind `last` in the order of its location that stands before `id` in the order of the graph.
fn earlier_write(graph: &Graph, id: EventId, last: EventId) -> Option<EventId> {
    let event = graph.event(id);
    let mut newer = graph.writes(event.addr)[graph.position(event.addr, last)..].iter().copied();
    newer.find(|&write| graph.event(write).stamp < event.stamp)
}

/// Why `read` may miss a newer write, in words that call events by the numbers of their steps.
pub fn why<P>(steps: &Steps<'_, P>, read: EventId, newer: EventId) -> String {
    let graph = steps.graph();
    let number = |id: EventId| steps.of(id) + 1;
    let missed = number(newer);
    match blame(graph, read, newer) {
        Blame::Unrelated => format!("nothing that this thread has seen orders #{missed} before this read"),
        Blame::NoAcquire(read) => {
            let event = graph.event(read);
            format!(
                "#{} saw what was written after #{missed}, but a {} {} does not acquire it",
                number(read),
                event.effective_mode().name(),
                event.name(),
            )
        }
        Blame::NoRelease(read, write) => {
            let event = graph.event(write);
            format!(
                "#{} acquires, but #{} that it saw is a {} {} and does not release #{missed}",
                number(read),
                number(write),
                event.mode.name(),
                event.name(),
            )
        }
    }
}

/// The reads and writes between which synchronisation is missing.
pub fn unsynchronised(graph: &Graph) -> Vec<EventId> {
    let reads = graph.order().iter().copied().filter(|&id| graph.event(id).is_read());
    let stale = reads.filter_map(|read| Some((read, newer_write(graph, read)?)));
    let blamed = stale.filter_map(|(read, newer)| match blame(graph, read, newer) {
        Blame::Unrelated => None,
        Blame::NoAcquire(read) => Some([read, graph.event(read).rf]),
        Blame::NoRelease(read, write) => Some([read, write]),
    });
    blamed.flatten().collect()
}

/// The reads of a thread that saw what another thread wrote.
pub fn communications(graph: &Graph, thread: ThreadId) -> Vec<EventId> {
    let events = graph.thread(thread).iter().enumerate();
    let foreign =
        events.filter(|(_, event)| event.is_read() && !event.rf.is_init() && event.rf.thread != thread);
    foreign.map(|(index, _)| EventId::new(thread, index)).collect()
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
