//! RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer: "Repairing sequential consistency in C/C++11",
//! PLDI 2017), with the release sequences of C++20.
//!
//! `psc` is acyclic, where
//!
//! ```text
//! psc       = psc_base ∪ psc_fence
//! psc_base  = ([Esc] ∪ [Fsc];hb?) ; scb ; ([Esc] ∪ hb?;[Fsc])
//! scb       = po ∪ (po|≠loc ; hb ; po|≠loc) ∪ hb|=loc ∪ mo ∪ fr
//! psc_fence = [Fsc] ; (hb ∪ hb;eco;hb) ; [Fsc]
//! ```
//!
//! [`Rc11::genmc`] leaves out the `≠loc` filters and takes a read-modify-write as a read followed
//! by a write, as GenMC 0.11 does; it is slightly stronger, and there to compare counts.
//!
//! A new cycle goes through a changed SeqCst access, or through a fence from which `hb` and `eco`
//! lead to a changed access. The search goes backwards from those.

use unpick_core::clock::{Clock, knows};
use unpick_core::event::{Event, EventId};
use unpick_core::graph::{Graph, Synchronisation};
use unpick_core::memory::MemoryModel;
use unpick_core::mutant::{self, Mutant};
use unpick_core::op::{Addr, Kind, ThreadId};

use crate::cpp20::last_seqcst;
use crate::search::Search;

/// The model.
#[derive(Debug)]
pub struct Rc11 {
    genmc: bool,
    search: Search,
    starts: Vec<EventId>,
    clock: Vec<u32>,
    other: Vec<u32>,
}

impl Rc11 {
    /// RC11 as published.
    pub fn published() -> Rc11 {
        Rc11 {
            genmc: false,
            search: Search::default(),
            starts: Vec::new(),
            clock: Vec::new(),
            other: Vec::new(),
        }
    }

    /// RC11 as GenMC implements it.
    pub fn genmc() -> Rc11 {
        Rc11 { genmc: true, ..Rc11::published() }
    }
}

impl MemoryModel for Rc11 {
    fn name(&self) -> &'static str {
        if self.genmc { "rc11g" } else { "rc11" }
    }

    fn synchronisation(&self) -> Synchronisation {
        Synchronisation::AsWritten
    }

    fn consistent(&mut self, graph: &Graph, changed: &[EventId]) -> bool {
        if graph.seqcst_count() < 2 {
            return true;
        }
        self.starts.clear();
        for &id in changed {
            if graph.event(id).has(Event::SEQCST) {
                self.starts.push(id);
            }
            self.add_fences_towards(graph, id);
        }
        (0..self.starts.len()).all(|i| !self.on_cycle(graph, self.starts[i]))
    }

    fn effort(&self) -> u64 {
        self.search.effort()
    }

    fn assumptions(&self) -> &'static [&'static str] {
        &[crate::NO_LOAD_BUFFERING]
    }
}

impl Rc11 {
    /// The SeqCst fences from which `hb;eco?` leads to the changed access.
    fn add_fences_towards(&mut self, graph: &Graph, id: EventId) {
        let addr = graph.event(id).addr;
        self.search.look_at(graph.writes(addr).len() + graph.reads(addr).len());
        let accesses = graph.writes(addr).iter().chain(graph.reads(addr));
        for &access in accesses {
            graph.hb_into(access, &mut self.clock);
            for t in 0..graph.thread_count() {
                let known = self.clock[t] as usize;
                let fence = last_seqcst(graph, ThreadId(t as u32), known, |e| e.kind == Kind::Fence);
                self.starts.extend(fence.filter(|fence| !self.starts.contains(fence)));
            }
        }
    }

    fn on_cycle(&mut self, graph: &Graph, start: EventId) -> bool {
        self.search.start(graph, 1);
        self.push_before(graph, start);
        while let Some((event, _)) = self.search.pop() {
            if event == start {
                return true;
            }
            self.push_before(graph, event);
        }
        false
    }

    fn push(&mut self, graph: &Graph, event: EventId) {
        self.search.push(graph, event, 0, 1);
    }

    fn push_before(&mut self, graph: &Graph, id: EventId) {
        if graph.event(id).kind == Kind::Fence {
            self.push_before_fence(graph, id);
        } else {
            self.push_before_access(graph, id);
        }
    }

    // ---------------------------------------------------------------- into an access

    fn push_before_access(&mut self, graph: &Graph, id: EventId) {
        let event = *graph.event(id);
        // po, and fences that happen before it with a step of po at the end.
        if let Some(last) = last_seqcst(graph, id.thread, id.index as usize, |_| true) {
            self.push(graph, last);
        }
        graph.view_into(id.thread, id.index as usize, &mut self.clock);
        self.push_fences(graph);
        self.push_around(graph, id);
        // hb at the same location.
        graph.hb_into(id, &mut self.other);
        let accesses = graph.writes(event.addr).iter().chain(graph.reads(event.addr));
        for &access in accesses {
            if access != id && knows(&self.other, access) {
                self.push_source(graph, access);
            }
        }
        self.search.look_at(2 * (graph.writes(event.addr).len() + graph.reads(event.addr).len()));
        // mo and fr.
        if event.is_write() {
            let position = graph.position(event.addr, id);
            for below in 1..position {
                self.push_source(graph, graph.write_at(event.addr, below));
            }
            for &read in graph.reads(event.addr) {
                if read != id && graph.position(event.addr, graph.event(read).rf) < position {
                    self.push_source(graph, read);
                }
            }
        }
    }

    /// `po|≠loc ; hb ; po|≠loc`, from accesses of other threads.
    fn push_around(&mut self, graph: &Graph, id: EventId) {
        let event = *graph.event(id);
        let earlier = graph.before(id.thread, id.index as usize);
        let filtered = !self.genmc;
        // The last event before with another location; without one, the start of the thread.
        let mut count = earlier.len();
        if filtered {
            while count > 0 && !is_elsewhere(&earlier[count - 1], &event) {
                count -= 1;
            }
        }
        graph.view_into(id.thread, graph.base(id.thread) + count, &mut self.clock);
        if self.genmc && event.is_update() {
            graph.hb_into(id, &mut self.clock);
        }
        for t in 0..graph.thread_count() {
            let thread = ThreadId(t as u32);
            if thread == id.thread {
                continue;
            }
            let known = self.clock[t] as usize;
            let (events, base) = (graph.before(thread, known), graph.base(thread));
            let leaves = |event: &Event, index: usize| {
                if filtered {
                    events[index - base + 1..].iter().any(|later| is_elsewhere(later, event))
                } else {
                    index + 1 < known || event.is_update()
                }
            };
            let candidates = graph.seqcst_of(thread).iter().rev().map(|&i| i as usize);
            let source = candidates.filter(|&i| i < known).find(|&i| {
                let event = &events[i - base];
                event.has(Event::SEQCST) && event.kind != Kind::Fence && leaves(event, i)
            });
            if let Some(index) = source {
                self.push(graph, EventId::new(thread, index));
            }
        }
    }

    /// An access from which a step leads on: itself if SeqCst, and the fences before it.
    fn push_source(&mut self, graph: &Graph, id: EventId) {
        if graph.event(id).has(Event::SEQCST) {
            self.push(graph, id);
        }
        graph.hb_into(id, &mut self.clock);
        self.push_fences(graph);
    }

    /// The last SeqCst fence of each thread in `self.clock`.
    fn push_fences(&mut self, graph: &Graph) {
        if mutant::is(Mutant::SeqCstFencesSkipped) {
            return;
        }
        for t in 0..graph.thread_count() {
            let known = self.clock[t] as usize;
            let fence = last_seqcst(graph, ThreadId(t as u32), known, |e| e.kind == Kind::Fence);
            if let Some(fence) = fence {
                self.push(graph, fence);
            }
        }
    }

    // ---------------------------------------------------------------- into a fence

    fn push_before_fence(&mut self, graph: &Graph, id: EventId) {
        if mutant::is(Mutant::SeqCstFencesSkipped) {
            return;
        }
        let mut hb = std::mem::take(&mut self.other);
        graph.hb_into(id, &mut hb);
        for t in 0..graph.thread_count() {
            self.push_hb_before_fence(graph, id, ThreadId(t as u32), &hb);
        }
        for addr in 0..graph.location_count() {
            self.push_eco_before_fence(graph, Addr(addr as u32), &hb);
        }
        self.other = hb;
    }

    /// Fences that happen before, and accesses `a` with `a ; (po ∪ hb|=loc) ; hb? ; fence`.
    fn push_hb_before_fence(&mut self, graph: &Graph, id: EventId, thread: ThreadId, hb: &Clock) {
        let known = hb[thread.index()] as usize;
        let end = if thread == id.thread { id.index as usize } else { known };
        if let Some(fence) = last_seqcst(graph, thread, end, |e| e.kind == Kind::Fence) {
            self.push(graph, fence);
        }
        let inner = if thread == id.thread { end } else { end.saturating_sub(1) };
        if let Some(access) = last_seqcst(graph, thread, inner, |e| e.kind != Kind::Fence) {
            self.push(graph, access);
        }
        if inner < end && end > graph.past_of(thread) as usize {
            let last = EventId::new(thread, end - 1);
            let event = graph.event(last);
            if event.has(Event::SEQCST) && event.kind != Kind::Fence && self.leads_on(graph, last, id, hb) {
                self.push(graph, last);
            }
        }
    }

    /// Whether `hb|=loc` (or for GenMC a step through the parts of updates) leads from the access
    /// to something that happens before the fence.
    fn leads_on(&mut self, graph: &Graph, access: EventId, fence: EventId, hb: &Clock) -> bool {
        let event = *graph.event(access);
        let accesses = graph.writes(event.addr).iter().chain(graph.reads(event.addr));
        for &other in accesses {
            if other != access && knows(hb, other) {
                graph.hb_into(other, &mut self.clock);
                if knows(&self.clock, access) {
                    return true;
                }
            }
        }
        self.genmc && event.is_update() && self.leads_on_by_parts(graph, access, fence, hb)
    }

    fn leads_on_by_parts(&mut self, graph: &Graph, access: EventId, fence: EventId, hb: &Clock) -> bool {
        (0..graph.thread_count()).any(|t| {
            let thread = ThreadId(t as u32);
            let known = hb[t] as usize;
            (graph.base(thread)..known).any(|index| {
                let middle = EventId::new(thread, index);
                let followed = index + 1 < known || graph.event(middle).is_update();
                if middle == access || middle == fence || !followed {
                    return false;
                }
                graph.hb_into(middle, &mut self.clock);
                knows(&self.clock, access)
            })
        })
    }

    /// Accesses with `mo ∪ fr` into a write that happens before the fence, and fences from which
    /// `hb;eco` leads to something that does.
    fn push_eco_before_fence(&mut self, graph: &Graph, addr: Addr, hb: &Clock) {
        self.search.look_at(2 * (graph.writes(addr).len() + graph.reads(addr).len()));
        let written = graph.writes(addr).iter().rposition(|&w| knows(hb, w)).map_or(0, |i| i + 1);
        let known = graph.reads(addr).iter().filter(|&&r| knows(hb, r));
        let read = known.map(|&r| graph.position(addr, graph.event(r).rf)).max().unwrap_or(0);
        let last = graph.write_at(addr, written);
        for position in 1..=graph.writes(addr).len() {
            let write = graph.write_at(addr, position);
            if position < written && graph.event(write).has(Event::SEQCST) {
                self.push(graph, write);
            }
            if position < written || position <= read {
                graph.hb_into(write, &mut self.clock);
                self.push_fences(graph);
            }
        }
        for &other in graph.reads(addr) {
            let position = graph.position(addr, graph.event(other).rf);
            if other == last {
                continue;
            }
            if position < written && graph.event(other).has(Event::SEQCST) {
                self.push(graph, other);
            }
            if position < written.max(read) {
                graph.hb_into(other, &mut self.clock);
                self.push_fences(graph);
            }
        }
    }
}

/// Whether an event counts as one of another location; a choice is of none and counts for nothing.
fn is_elsewhere(event: &Event, than: &Event) -> bool {
    event.addr != than.addr && event.kind != Kind::Choice
}

#[cfg(test)]
mod tests {
    use unpick_core::op::Mode::{AcqRel, Acquire, Relaxed, Release, SeqCst};

    use crate::draft::{
        Draft, INIT, X, Y, allowed_by, first_writes_last, message_passing, opposite_orders, store_buffering,
    };

    /// Which of `rc11`, `rc11g` and `cpp20` accept the draft.
    fn accepting(make: impl Fn(&mut Draft)) -> [bool; 3] {
        let models = allowed_by(make);
        ["rc11", "rc11g", "cpp20"].map(|model| models.contains(&model))
    }

    #[test]
    fn seqcst_accesses_forbid_what_weaker_ones_allow() {
        for (mode, allowed) in [(SeqCst, false), (Relaxed, true)] {
            assert_eq!(accepting(store_buffering(mode, |_, _| ())), [allowed; 3]);
            assert_eq!(accepting(opposite_orders(mode, mode)), [allowed; 3]);
            assert_eq!(accepting(first_writes_last(mode)), [allowed; 3]);
        }
    }

    #[test]
    fn whoever_acquires_a_release_sees_the_message() {
        assert_eq!(accepting(message_passing(Release, Acquire)), [false; 3]);
        assert_eq!(accepting(message_passing(Relaxed, Relaxed)), [true; 3]);
    }

    #[test]
    fn seqcst_fences_order_what_stands_around_them() {
        let fenced = |mode| store_buffering(Relaxed, move |draft, thread| draft.fence(thread, mode));
        assert_eq!(accepting(fenced(SeqCst)), [false; 3]);
        assert_eq!(accepting(fenced(AcqRel)), [true; 3]);
    }

    #[test]
    fn seqcst_fences_and_accesses_are_in_one_order() {
        let half_fenced = |write| {
            move |draft: &mut Draft| {
                draft.spawn(2);
                draft.write(1, X, write);
                draft.read(1, Y, SeqCst, INIT);
                draft.write(2, Y, Relaxed);
                draft.fence(2, SeqCst);
                draft.read(2, X, Relaxed, INIT);
            }
        };
        assert_eq!(accepting(half_fenced(SeqCst)), [false; 3]);
        assert_eq!(accepting(half_fenced(Relaxed)), [true; 3]);
    }

    /// Thread 2 sees a relaxed write that follows a SeqCst one: `mo;rf` is `eco`, but no step of `scb`.
    #[test]
    fn only_cpp20_orders_accesses_by_a_write_between_them() {
        let accepted = accepting(|draft| {
            draft.spawn(3);
            draft.write(1, Y, SeqCst);
            draft.write(1, X, SeqCst);
            let newer = draft.write(3, X, Relaxed);
            draft.read(2, X, SeqCst, newer);
            draft.read(2, Y, SeqCst, INIT);
        });
        assert_eq!(accepted, [true, true, false]);
    }

    /// The SeqCst write of thread 1 is ordered before the read of thread 2 by `po;hb;po`, of which the first step stays
    /// at its location.
    #[test]
    fn only_rc11_leaves_out_steps_within_a_location() {
        let synchronising = |addr| {
            move |draft: &mut Draft| {
                draft.spawn(3);
                draft.write(1, X, SeqCst);
                let flag = draft.write(1, addr, Release);
                draft.read(2, addr, Acquire, flag);
                draft.read(2, Y, SeqCst, INIT);
                draft.write(3, Y, SeqCst);
                draft.read(3, X, SeqCst, INIT);
            }
        };
        assert_eq!(accepting(synchronising(X)), [true, false, false]);
        let elsewhere = |draft: &mut Draft| {
            let z = draft.graph.add_location(0);
            synchronising(z)(draft);
        };
        assert_eq!(accepting(elsewhere), [false; 3]);
    }

    /// Z6.U of P0668: an update synchronises with a release, and is no `po;hb;po` after what comes before that one,
    /// unless it is taken for a read followed by a write.
    #[test]
    fn only_genmc_takes_an_update_apart() {
        let accepted = accepting(|draft| {
            draft.spawn(3);
            draft.write(1, X, SeqCst);
            let flag = draft.write(1, Y, Release);
            draft.update(2, Y, SeqCst, flag);
            let newest = draft.write(3, Y, SeqCst);
            draft.read(2, Y, Relaxed, newest);
            draft.read(3, X, SeqCst, INIT);
        });
        assert_eq!(accepted, [true, false, true]);
    }

    /// Both threads write both locations, and the first write of each is the last of its location. A fence between
    /// the writes of thread 2, and one or SeqCst accesses in thread 1.
    #[test]
    fn fences_order_writes_by_coherence() {
        let writing = |mode, fences: [bool; 2]| {
            move |draft: &mut Draft| {
                draft.spawn(2);
                let fence = |draft: &mut Draft, thread| {
                    if fences[thread as usize - 1] {
                        draft.fence(thread, SeqCst);
                    }
                };
                draft.write(1, X, mode);
                fence(draft, 1);
                draft.write(1, Y, mode);
                draft.write(2, Y, Relaxed);
                fence(draft, 2);
                draft.write_at(2, X, Relaxed, 0);
            }
        };
        assert_eq!(accepting(writing(Relaxed, [true, true])), [false; 3]);
        assert_eq!(accepting(writing(SeqCst, [false, true])), [false; 3]);
        assert_eq!(accepting(writing(Relaxed, [false, true])), [true; 3]);
    }

    /// As before, but it is the last step before the read of thread 2 that stays at its location.
    #[test]
    fn only_rc11_leaves_out_last_steps_within_a_location() {
        let accepted = accepting(|draft| {
            draft.spawn(3);
            draft.write(1, X, SeqCst);
            let flag = draft.write(1, Y, Release);
            draft.read(2, Y, Acquire, flag);
            draft.read(2, Y, SeqCst, flag);
            draft.write(3, Y, SeqCst);
            draft.read(3, X, SeqCst, INIT);
        });
        assert_eq!(accepted, [true, false, false]);
    }

    /// The write that synchronises is SeqCst itself. Nothing leads from it to the read of thread 2, unless it is an
    /// update of two parts.
    #[test]
    fn synchronisation_orders_what_is_before_it() {
        let accepted = |updates: bool| {
            accepting(|draft| {
                draft.spawn(3);
                let flag = if updates { draft.update(1, X, SeqCst, INIT) } else { draft.write(1, X, SeqCst) };
                draft.read(2, X, Acquire, flag);
                draft.read(2, Y, SeqCst, INIT);
                draft.write(3, Y, SeqCst);
                draft.read(3, X, SeqCst, INIT);
            })
        };
        assert_eq!(accepted(false), [true; 3]);
        assert_eq!(accepted(true), [true, false, true]);
    }
}
