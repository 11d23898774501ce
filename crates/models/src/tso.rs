//! Total store order, the memory of x86: a store may become visible after later loads of its
//! thread, nothing else is reordered.
//!
//! Consistent when `ppo ∪ rfe ∪ mo ∪ fr` is acyclic, where `ppo` is program order without the
//! pairs of a store and a later load; SeqCst fences and successful read-modify-writes order
//! everything, other fences nothing; spawn and join order everything. Modes are ignored: a
//! SeqCst store does not flush by itself, and front-ends that compile one to a store and a fence
//! add the fence.

use unpick_core::event::{Event, EventId};
use unpick_core::graph::{Graph, Synchronisation};
use unpick_core::memory::MemoryModel;
use unpick_core::op::Kind;

use crate::sc::push_communication;
use crate::search::Search;

/// The model.
#[derive(Debug, Default)]
pub struct Tso {
    search: Search,
}

impl MemoryModel for Tso {
    fn name(&self) -> &'static str {
        "tso"
    }

    fn synchronisation(&self) -> Synchronisation {
        Synchronisation::Always
    }

    fn consistent(&mut self, graph: &Graph, changed: &[EventId]) -> bool {
        changed.iter().all(|&event| !self.search.returns(graph, event, push_successors))
    }

    fn flushes_stores(&self) -> bool {
        true
    }

    fn effort(&self) -> u64 {
        self.search.effort()
    }

    fn assumptions(&self) -> &'static [&'static str] {
        &["`tso` is the memory of x86, after the compiler: memory orders are ignored"]
    }
}

/// The nearest event of each class that stays ordered; the rest follows from there.
fn push_successors(search: &mut Search, graph: &Graph, id: EventId) {
    let later = graph.since(id.thread, id.index + 1);
    let at = |offset: usize| EventId { index: id.index + 1 + offset as u32, ..id };
    let accesses = matches!(graph.event(id).kind, Kind::Read | Kind::Write);
    if accesses || is_full(graph.event(id)) {
        if let Some(offset) = later.iter().position(|e| is_full(e) || e.kind == Kind::Write) {
            search.push(graph, at(offset), 0, 1);
        }
        if graph.event(id).kind != Kind::Write
            && let Some(offset) = later.iter().position(|e| e.kind == Kind::Read && !e.is_update())
        {
            search.push(graph, at(offset), 0, 1);
        }
    }
    push_communication(search, graph, id, true);
}

/// Whether the event keeps its order with everything.
fn is_full(event: &Event) -> bool {
    match event.kind {
        Kind::Read => event.is_update(),
        Kind::Write => false,
        Kind::Fence => event.mode.is_seqcst(),
        Kind::Choice => false,
        Kind::Spawn | Kind::Join | Kind::Finish => true,
    }
}
