//! C++20, and so Rust: RC11 with the total order of SeqCst operations of P0668.
//!
//! There must be a total order of the SeqCst operations that contains
//!
//! - *strongly happens before*: `(po ∪ po;hb;po)⁺` between them (synchronisation of two SeqCst
//!   accesses is part of the next line);
//! - `([Esc] ∪ [Fsc];hb?) ; eco ; ([Esc] ∪ hb?;[Fsc])`, where `eco = (rf ∪ mo ∪ fr)⁺`.
//!
//! It exists when the union has no cycle. A new cycle goes through a changed event, as a member
//! of the order or on an `eco` path; the search goes backwards from there, since clocks list what
//! is before an event. Nodes are members of the order (`ORDER`) and events that an `eco` step
//! leads out of (`PATH`). Of earlier events in one thread only the last is visited: program
//! order leads to the others.
//!
//! Coherence, atomicity and release sequences hold by construction.

use unpick_core::clock::{Clock, knows};
use unpick_core::event::{Event, EventId};
use unpick_core::graph::{Graph, Synchronisation};
use unpick_core::memory::MemoryModel;
use unpick_core::mutant::{self, Mutant};
use unpick_core::op::{Addr, Kind, ThreadId};

use crate::search::Search;

const ORDER: u8 = 0;
const PATH: u8 = 1;
const ROLES: usize = 2;

/// The model.
#[derive(Debug, Default)]
pub struct Cpp20 {
    search: Search,
    clock: Vec<u32>,
}

impl MemoryModel for Cpp20 {
    fn name(&self) -> &'static str {
        "cpp20"
    }

    fn synchronisation(&self) -> Synchronisation {
        Synchronisation::AsWritten
    }

    fn consistent(&mut self, graph: &Graph, changed: &[EventId]) -> bool {
        graph.seqcst_count() < 2 || changed.iter().all(|&event| !self.on_cycle(graph, event))
    }

    fn effort(&self) -> u64 {
        self.search.effort()
    }

    fn assumptions(&self) -> &'static [&'static str] {
        &[crate::NO_LOAD_BUFFERING]
    }
}

impl Cpp20 {
    fn on_cycle(&mut self, graph: &Graph, start: EventId) -> bool {
        let role = if graph.event(start).has(Event::SEQCST) { ORDER } else { PATH };
        self.search.start(graph, ROLES);
        self.push_before(graph, start, role);
        while let Some((event, reached)) = self.search.pop() {
            if (event, reached) == (start, role) {
                return true;
            }
            self.push_before(graph, event, reached);
        }
        false
    }

    fn push_before(&mut self, graph: &Graph, id: EventId, role: u8) {
        let event = graph.event(id);
        if role == PATH {
            if event.has(Event::SEQCST) {
                self.push(graph, id, ORDER);
            }
            graph.hb_into(id, &mut self.clock);
            self.push_fences(graph);
            self.push_path(graph, id);
            return;
        }
        self.push_strongly_before(graph, id);
        if event.kind == Kind::Fence {
            for addr in 0..graph.location_count() {
                self.push_paths_into_fence(graph, Addr(addr as u32), graph.hb(id));
            }
        } else {
            self.push_path(graph, id);
        }
    }

    fn push(&mut self, graph: &Graph, event: EventId, role: u8) {
        self.search.push(graph, event, role, ROLES);
    }

    /// The last SeqCst operation of each thread that strongly happens before.
    fn push_strongly_before(&mut self, graph: &Graph, id: EventId) {
        graph.view_into(id.thread, id.index as usize, &mut self.clock);
        for t in 0..graph.thread_count() {
            let thread = ThreadId(t as u32);
            let known = self.clock[t] as usize;
            let end = if thread == id.thread { id.index as usize } else { known.saturating_sub(1) };
            if let Some(last) = last_seqcst(graph, thread, end, |_| true) {
                self.push(graph, last, ORDER);
            }
        }
    }

    /// The last SeqCst fence of each thread in `self.clock`.
    fn push_fences(&mut self, graph: &Graph) {
        if mutant::is(Mutant::SeqCstFencesSkipped) {
            return;
        }
        for t in 0..graph.thread_count() {
            let thread = ThreadId(t as u32);
            let known = self.clock[t] as usize;
            if let Some(fence) = last_seqcst(graph, thread, known, |e| e.kind == Kind::Fence) {
                self.push(graph, fence, ORDER);
            }
        }
    }

    /// The events one `eco` step before an access.
    fn push_path(&mut self, graph: &Graph, id: EventId) {
        let event = graph.event(id);
        if event.is_write() {
            let position = graph.position(event.addr, id);
            self.push_below(graph, event.addr, position, id);
        } else {
            self.push(graph, event.rf, PATH);
        }
    }

    /// The events one `eco` step before the write at `position`, which is `write`.
    fn push_below(&mut self, graph: &Graph, addr: Addr, position: usize, write: EventId) {
        let below = graph.write_at(addr, position - 1);
        self.push(graph, below, PATH);
        self.search.look_at(graph.reads(addr).len());
        for &read in graph.reads(addr) {
            if read != write && graph.event(read).rf == below {
                self.push(graph, read, PATH);
            }
        }
    }

    /// The events from which an `eco` path leads to something that happens before the fence.
    fn push_paths_into_fence(&mut self, graph: &Graph, addr: Addr, hb: &Clock) {
        if mutant::is(Mutant::SeqCstFencesSkipped) {
            return;
        }
        let writes = graph.writes(addr);
        self.search.look_at(writes.len() + graph.reads(addr).len());
        let written = writes.iter().rposition(|&w| knows(hb, w)).map_or(0, |i| i + 1);
        let known = graph.reads(addr).iter().filter(|&&r| knows(hb, r));
        let read = known.map(|&r| graph.position(addr, graph.event(r).rf)).max().unwrap_or(0);
        if read >= written {
            self.push(graph, graph.write_at(addr, read), PATH);
        } else {
            self.push_below(graph, addr, written, graph.write_at(addr, written));
        }
    }
}

/// The last SeqCst event among the first `end` of a thread that passes.
pub(crate) fn last_seqcst(
    graph: &Graph,
    thread: ThreadId,
    end: usize,
    pass: impl Fn(&Event) -> bool,
) -> Option<EventId> {
    let known = graph.seqcst_of(thread).iter().rev().map(|&i| i as usize).filter(|&i| i < end);
    let mut fitting = known.filter(|&i| {
        let event = graph.event(EventId::new(thread, i));
        event.has(Event::SEQCST) && pass(event)
    });
    fitting.next().map(|i| EventId::new(thread, i))
}

#[cfg(test)]
mod tests {
    use unpick_core::op::Mode::{AcqRel, Acquire, Relaxed, Release, SeqCst};

    use crate::draft::{
        Draft, INIT, X, Y, allows, first_writes_last, message_passing, opposite_orders, store_buffering,
    };

    fn is_allowed(make: impl Fn(&mut Draft)) -> bool {
        allows("cpp20", make)
    }

    #[test]
    fn seqcst_accesses_are_in_one_order_and_weaker_ones_are_not() {
        for (mode, allowed) in [(SeqCst, false), (Relaxed, true)] {
            assert_eq!(is_allowed(store_buffering(mode, |_, _| ())), allowed);
            assert_eq!(is_allowed(opposite_orders(mode, mode)), allowed);
            assert_eq!(is_allowed(first_writes_last(mode)), allowed);
        }
        assert!(is_allowed(opposite_orders(Release, Acquire)));
        assert!(is_allowed(opposite_orders(SeqCst, Acquire)), "the reads are not in the order");
    }

    #[test]
    fn whoever_acquires_a_release_sees_the_message() {
        assert!(!is_allowed(message_passing(Release, Acquire)));
        assert!(is_allowed(message_passing(Relaxed, Acquire)));
        assert!(is_allowed(message_passing(Release, Relaxed)));
    }

    #[test]
    fn fences_make_relaxed_accesses_synchronise() {
        let passes = |released, acquired| {
            move |draft: &mut Draft| {
                draft.spawn(2);
                draft.write(1, X, Relaxed);
                draft.fence(1, released);
                let flag = draft.write(1, Y, Relaxed);
                draft.read(2, Y, Relaxed, flag);
                draft.fence(2, acquired);
                draft.read(2, X, Relaxed, INIT);
            }
        };
        assert!(!is_allowed(passes(Release, Acquire)));
        assert!(is_allowed(passes(Acquire, Acquire)));
        assert!(is_allowed(passes(Release, Release)));
    }

    #[test]
    fn a_store_of_the_same_thread_ends_a_release_sequence() {
        assert!(is_allowed(|draft| {
            draft.spawn(2);
            draft.write(1, X, Relaxed);
            draft.write(1, Y, Release);
            let later = draft.write(1, Y, Relaxed);
            draft.read(2, Y, Acquire, later);
            draft.read(2, X, Relaxed, INIT);
        }));
    }

    #[test]
    fn seqcst_fences_order_what_stands_around_them() {
        assert!(!is_allowed(store_buffering(Relaxed, |draft, thread| draft.fence(thread, SeqCst))));
        assert!(is_allowed(store_buffering(Relaxed, |draft, thread| draft.fence(thread, AcqRel))));
        let one = |draft: &mut Draft, thread| {
            if thread == 1 {
                draft.fence(thread, SeqCst)
            }
        };
        assert!(is_allowed(store_buffering(Relaxed, one)));
    }

    /// A fence on one side, SeqCst accesses on the other: both of these must be.
    #[test]
    fn seqcst_fences_and_accesses_are_in_one_order() {
        let half_fenced = |write, read| {
            move |draft: &mut Draft| {
                draft.spawn(2);
                draft.write(1, X, write);
                draft.read(1, Y, read, INIT);
                draft.write(2, Y, Relaxed);
                draft.fence(2, SeqCst);
                draft.read(2, X, Relaxed, INIT);
            }
        };
        assert!(!is_allowed(half_fenced(SeqCst, SeqCst)));
        assert!(is_allowed(half_fenced(Relaxed, SeqCst)));
        assert!(is_allowed(half_fenced(SeqCst, Relaxed)));
    }

    /// What happens before a fence counts, in other threads too: the write of thread 1 is known to thread 2 by
    /// synchronisation when it comes to its fence.
    #[test]
    fn what_synchronises_into_a_fence_is_before_it() {
        let into_fence = |fence| {
            move |draft: &mut Draft| {
                draft.spawn(3);
                let write = draft.write(1, X, Release);
                draft.read(2, X, Acquire, write);
                draft.fence(2, fence);
                draft.read(2, Y, Relaxed, INIT);
                draft.write(3, Y, Relaxed);
                draft.fence(3, SeqCst);
                draft.read(3, X, Relaxed, INIT);
            }
        };
        assert!(!is_allowed(into_fence(SeqCst)));
        assert!(is_allowed(into_fence(AcqRel)));
    }
}
