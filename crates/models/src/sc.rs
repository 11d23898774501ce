//! Sequential consistency: `po ∪ rf ∪ mo ∪ fr` is acyclic; modes are ignored.
//!
//! A new cycle must go through a changed event, so the search starts there and follows program
//! order, reads-from, the next write in coherence order, and the write that a read missed.

use unpick_core::event::EventId;
use unpick_core::graph::{Graph, Synchronisation};
use unpick_core::memory::{Linear, MemoryModel};
use unpick_core::op::{Kind, ThreadId};

use crate::search::Search;

/// The model.
#[derive(Debug, Default)]
pub struct Sc {
    search: Search,
}

impl MemoryModel for Sc {
    fn name(&self) -> &'static str {
        "sc"
    }

    fn synchronisation(&self) -> Synchronisation {
        Synchronisation::Always
    }

    fn consistent(&mut self, graph: &Graph, changed: &[EventId]) -> bool {
        changed.iter().all(|&event| !self.search.returns(graph, event, push_successors))
    }

    fn linear(&self) -> Linear {
        Linear::Memory
    }

    fn interleaves(&self) -> bool {
        true
    }

    fn effort(&self) -> u64 {
        self.search.effort()
    }

    fn assumptions(&self) -> &'static [&'static str] {
        &["`sc` takes every access as SeqCst: weak-memory behaviour is not explored"]
    }
}

/// The next event of the thread, and what communication leads to.
fn push_successors(search: &mut Search, graph: &Graph, event: EventId) {
    let next = EventId { index: event.index + 1, ..event };
    if (next.index as usize) < graph.thread_len(event.thread) {
        search.push(graph, next, 0, 1);
    }
    push_communication(search, graph, event, false);
}

/// Follows reads-from (from another thread only, if `external`), coherence, from-read, spawn and
/// join, each to the nearest event.
pub(crate) fn push_communication(search: &mut Search, graph: &Graph, id: EventId, external: bool) {
    let event = graph.event(id);
    match event.kind {
        Kind::Read | Kind::Write => {
            let seen = if event.is_write() { id } else { event.rf };
            if let Some(&next) = graph.writes(event.addr).get(graph.position(event.addr, seen)) {
                search.push(graph, next, 0, 1);
            }
            if event.is_write() {
                search.look_at(graph.reads(event.addr).len());
                for &read in graph.reads(event.addr) {
                    if graph.event(read).rf == id && !(external && read.thread == id.thread) {
                        search.push(graph, read, 0, 1);
                    }
                }
            }
        }
        Kind::Spawn => {
            let child = ThreadId(event.value as u32);
            if graph.thread_len(child) > 0 {
                search.push(graph, EventId::new(child, 0), 0, 1);
            }
        }
        Kind::Finish => {
            for join in graph.joins_of(id.thread) {
                search.push(graph, join, 0, 1);
            }
        }
        Kind::Fence | Kind::Join | Kind::Choice => {}
    }
}

#[cfg(test)]
mod tests {
    use unpick_core::op::Mode::{Relaxed, SeqCst};

    use crate::draft::{
        INIT, X, allows, first_writes_last, message_passing, opposite_orders, store_buffering,
    };

    #[test]
    fn one_of_two_threads_sees_what_the_other_has_written() {
        assert!(!allows("sc", store_buffering(Relaxed, |_, _| ())));
    }

    #[test]
    fn whoever_sees_the_flag_sees_the_message() {
        assert!(!allows("sc", message_passing(Relaxed, Relaxed)));
    }

    #[test]
    fn all_threads_see_writes_in_one_order() {
        assert!(!allows("sc", opposite_orders(Relaxed, Relaxed)));
    }

    #[test]
    fn two_locations_are_not_ordered_against_program_order() {
        assert!(!allows("sc", first_writes_last(SeqCst)));
    }

    #[test]
    fn a_read_may_come_before_a_write_of_another_thread() {
        assert!(allows("sc", |draft| {
            draft.spawn(2);
            let write = draft.write(1, X, Relaxed);
            draft.read(2, X, Relaxed, INIT);
            draft.read(2, X, Relaxed, write);
        }));
    }
}
