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

#[cfg(test)]
mod tests {
    use unpick_core::op::Addr;
    use unpick_core::op::Mode::{AcqRel, Relaxed, SeqCst};

    use crate::draft::{
        Draft, INIT, X, Y, allows, first_writes_last, message_passing, opposite_orders, store_buffering,
    };

    #[test]
    fn a_store_waits_in_its_buffer_whatever_its_mode() {
        assert!(allows("tso", store_buffering(Relaxed, |_, _| ())));
        assert!(allows("tso", store_buffering(SeqCst, |_, _| ())));
    }

    #[test]
    fn a_full_fence_empties_the_buffer_and_no_other_does() {
        assert!(!allows("tso", store_buffering(Relaxed, |draft, thread| draft.fence(thread, SeqCst))));
        assert!(allows("tso", store_buffering(Relaxed, |draft, thread| draft.fence(thread, AcqRel))));
        let one = |draft: &mut Draft, thread| {
            if thread == 1 {
                draft.fence(thread, SeqCst)
            }
        };
        assert!(allows("tso", store_buffering(Relaxed, one)));
    }

    #[test]
    fn an_update_empties_the_buffer() {
        let update = |draft: &mut Draft, thread: u32| {
            while draft.graph.location_count() < 5 {
                draft.graph.add_location(0);
            }
            draft.update(thread, Addr(2 + thread), Relaxed, INIT);
        };
        assert!(!allows("tso", store_buffering(Relaxed, update)));
    }

    #[test]
    fn a_thread_reads_from_its_own_buffer_before_others_see_the_store() {
        let own = |model| {
            allows(model, |draft| {
                draft.spawn(2);
                for (thread, own, other) in [(1, X, Y), (2, Y, X)] {
                    let write = draft.write(thread, own, Relaxed);
                    draft.read(thread, own, Relaxed, write);
                    draft.read(thread, other, Relaxed, INIT);
                }
            })
        };
        assert!(own("tso") && !own("sc"));
    }

    #[test]
    fn stores_leave_the_buffer_in_order_and_loads_keep_theirs() {
        assert!(!allows("tso", message_passing(Relaxed, Relaxed)));
        assert!(!allows("tso", first_writes_last(Relaxed)));
    }

    #[test]
    fn all_threads_see_writes_in_one_order() {
        assert!(!allows("tso", opposite_orders(Relaxed, Relaxed)));
    }
}
