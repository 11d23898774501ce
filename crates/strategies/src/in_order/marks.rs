//! Where a thread may be left, and whether that is worth it.

use unpick_core::clock::{Clock, knows};
use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::{Addr, Kind, Rmw, ThreadId};
use unpick_core::strategy::Ready;

use super::conflicts::waiting;
use super::{InOrder, Item, NONE, Sleep, Switch, Until, What, slot};

impl InOrder {
    /// Marks the states in which a thread may be left because this thread takes a fence next.
    pub(super) fn mark_fence(&mut self, graph: &Graph, fencing: ThreadId) {
        let mut view = std::mem::take(&mut self.view);
        graph.view_into(fencing, graph.thread_len(fencing), &mut view);
        for slot in 0..self.leaves.len() {
            self.mark_if(slot, fencing, |thread, until, len| {
                let conflicts = matches!(until, Until::Fenced | Until::Changed { seqcst: true });
                unless_known(graph, &view, thread, len, conflicts)
            });
        }
        let from = self.oldest_unmarked().map_or(graph.len(), |from| from as usize);
        for &other in &graph.order()[from..] {
            if other.thread != fencing && graph.event(other).mode.is_seqcst() && !knows(&view, other) {
                self.mark_turns_before(graph, other, &view, fencing);
            }
        }
        self.view = view;
    }

    /// Marks the states in which a thread may be left because of this access.
    pub(super) fn mark(&mut self, graph: &Graph, id: EventId) {
        let event = graph.event(id);
        let reads = event.kind == Kind::Read;
        let (changes, waits) = (!reads || event.rmw != Rmw::None, reads && event.rmw.may_wait());
        let seqcst = event.mode.is_seqcst();
        if !changes && !seqcst {
            return;
        }
        let prefix = graph.porf(id);
        let conflicts = |thread, until, len| {
            let conflicts = match until {
                Until::Written => changes,
                Until::Changed { seqcst } => changes || seqcst,
                Until::Fenced => true,
                Until::Waited(_) => waits,
            };
            unless_known(graph, prefix, thread, len, conflicts)
        };
        self.mark_if(slot(event.addr), id.thread, conflicts);
        if seqcst {
            self.mark_if(slot(Addr::NONE), id.thread, conflicts);
        }
        let Some(from) = self.oldest_unmarked() else { return };
        for other in accesses(graph, event.addr, from, id.thread) {
            let before = graph.event(other);
            let is_change = before.kind != Kind::Read || before.rmw != Rmw::None;
            if (changes || is_change || before.mode.is_seqcst()) && !knows(prefix, other) {
                self.mark_turns_before(graph, other, prefix, id.thread);
            }
        }
        let fences = if seqcst { &graph.order()[from as usize..] } else { &[] };
        for &other in fences.iter().filter(|other| other.thread != id.thread) {
            if graph.event(other).kind == Kind::Fence && !knows(prefix, other) {
                self.mark_turns_before(graph, other, prefix, id.thread);
            }
        }
    }

    /// Marks the states in which a thread may be left because of those that wait for a lock, though what they
    /// would do next is not explored here.
    pub(super) fn mark_waiters(&mut self, graph: &Graph, ready: &Ready) {
        for waiter in waiting(ready, graph) {
            let Some(op) = ready.op(waiter) else { continue };
            let mut view = std::mem::take(&mut self.view);
            graph.view_into(waiter, graph.thread_len(waiter), &mut view);
            self.mark_if(slot(op.addr), waiter, |thread, _, len| {
                unless_known(graph, &view, thread, len, true)
            });
            let from = self.oldest_unmarked().unwrap_or(NONE);
            for other in accesses(graph, op.addr, from, waiter) {
                if !knows(&view, other) {
                    self.mark_turns_before(graph, other, &view, waiter);
                }
            }
            self.view = view;
        }
    }

    /// Marks the states in which another thread than this may be left before an access to a location, or a
    /// fence. `conflicts` says nothing if the thread that does so is later than the access because of it,
    /// and thus than all accesses before it.
    #[inline(always)]
    fn mark_if(
        &mut self,
        slot: usize,
        but: ThreadId,
        conflicts: impl Fn(ThreadId, Until, u32) -> Option<bool>,
    ) {
        let threads = self.leaves.get(slot).map_or(0, Vec::len);
        for thread in (0..threads).filter(|&thread| thread != but.index()) {
            let mut next = self.leaves[slot][thread];
            // Items that are marked are left out of the chain.
            let mut unmarked: Option<u32> = None;
            while let Some(Item { len, what: What::Leave { sleep, marked, earlier, .. }, .. }) =
                self.items.get_mut(next as usize)
            {
                let (this, before) = (next, *earlier);
                let Some(conflict) = conflicts(ThreadId(thread as u32), sleep.until, *len) else { break };
                *marked = conflict;
                next = before;
                if !conflict {
                    unmarked = Some(this);
                } else if let Some(later) = unmarked {
                    self.set_earlier(later, before);
                } else {
                    self.leaves[slot][thread] = before;
                }
            }
        }
    }

    fn set_earlier(&mut self, index: u32, to: u32) {
        if let Some(Item { what: What::Leave { earlier, .. }, .. }) = self.items.get_mut(index as usize) {
            *earlier = to;
        }
    }

    /// Pushes an item that lets the running thread be left.
    pub(super) fn push_leave(&mut self, thread: ThreadId, sleep: Sleep) {
        let slot = slot(sleep.addr);
        if self.leaves.len() <= slot {
            self.leaves.resize_with(slot + 1, Vec::new);
        }
        let leaves = &mut self.leaves[slot];
        if leaves.len() <= thread.index() {
            leaves.resize(thread.index() + 1, NONE);
        }
        let start = self.items.len();
        let earlier = std::mem::replace(&mut leaves[thread.index()], start as u32);
        self.push(sleep.since as usize, What::Leave { thread, sleep, marked: false, earlier });
        self.branch(start);
    }

    pub(super) fn pop(&mut self) -> Option<Item> {
        self.raise_marked();
        let item = self.items.pop()?;
        self.branches.take(self.items.len());
        match item.what {
            What::Leave { thread, sleep, earlier, .. } => {
                let last = &mut self.leaves[slot(sleep.addr)][thread.index()];
                if *last as usize == self.items.len() {
                    *last = earlier;
                }
            }
            What::Turn { marked: false, .. } => self.unmarked_turns -= 1,
            _ => {}
        }
        Some(item)
    }

    /// Marks that others could have taken over where the running thread did: what would have come then is not
    /// explored here.
    pub(super) fn mark_last_turns(&mut self) {
        if let Some(last) = self.switches.len().checked_sub(1) {
            self.mark_turns(last, |_| true);
        }
    }

    /// Marks that others could have taken over where the thread of `before` did, last of all before that event:
    /// what thread `later` does next, after all in `prefix`, conflicts with it. If one of those that this takes
    /// was there to go first, others need not.
    fn mark_turns_before(&mut self, graph: &Graph, before: EventId, prefix: &Clock, later: ThreadId) {
        let stamp = graph.event(before).stamp;
        let switches = self.switches.partition_point(|switch| switch.len <= stamp);
        let Some(Switch { len, thread: first, .. }) = switches.checked_sub(1).map(|last| self.switches[last])
        else {
            return;
        };
        let takes_part = |thread: ThreadId| {
            let known = prefix.get(thread.index()).copied().unwrap_or(0);
            let newest = || graph.event(EventId { thread, index: known - 1 });
            thread == later || (known > 0 && newest().stamp >= len)
        };
        let was_there = self.turns(switches - 1).any(|turn| {
            let What::Turn { thread, before, .. } = turn.what else { return false };
            takes_part(thread) || (0..64).any(|t| before & (1 << t) != 0 && takes_part(ThreadId(t)))
        });
        let any = was_there || takes_part(first);
        self.mark_turns(switches - 1, |thread| !any || takes_part(thread));
    }

    /// The items that let others take over than at this switch.
    fn turns(&self, switch: usize) -> impl Iterator<Item = &Item> {
        let turns = self.switches[switch].turns;
        let is_one = move |item: &&Item| matches!(item.what, What::Turn { start, .. } if start == turns);
        self.items[turns as usize..].iter().take_while(is_one)
    }

    /// Marks those of them that let a thread take over which is wanted.
    fn mark_turns(&mut self, switch: usize, wanted: impl Fn(ThreadId) -> bool) {
        let turns = self.switches[switch].turns;
        for item in &mut self.items[turns as usize..] {
            match &mut item.what {
                What::Turn { thread, start, marked, .. } if *start == turns => {
                    if !*marked && wanted(*thread) {
                        *marked = true;
                        self.unmarked_turns -= 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// How many events there were at the first switch where others might take over, unmarked.
    fn oldest_unmarked(&self) -> Option<u32> {
        let is_unmarked = |item: &Item| matches!(item.what, What::Turn { marked: false, .. });
        let mut switches = (0..self.switches.len()).filter(|_| self.unmarked_turns > 0);
        let oldest = switches.find(|&switch| self.turns(switch).any(is_unmarked));
        oldest.map(|switch| self.switches[switch].len)
    }

    /// Of the items on top that let threads take over, puts one last that is marked.
    fn raise_marked(&mut self) {
        let Some(Item { what: What::Turn { start, marked: false, .. }, .. }) = self.items.last() else {
            return;
        };
        let start = *start as usize;
        let is_marked = |item: &Item| matches!(item.what, What::Turn { marked: true, .. });
        if let Some(marked) = self.items[start..].iter().rposition(is_marked) {
            let last = self.items.len() - 1;
            self.items.swap(start + marked, last);
        }
    }
}

/// What somebody who knows this much says to the event before which a thread may be left: nothing if that is known. There is no
/// conflict if the thread was left just there, for another reason.
#[inline(always)]
fn unless_known(graph: &Graph, view: &Clock, thread: ThreadId, len: u32, conflicts: bool) -> Option<bool> {
    let left = graph.order().get(len as usize).filter(|left| left.thread == thread);
    left.map_or(Some(false), |&left| (!knows(view, left)).then_some(conflicts))
}

/// The accesses of other threads to a location that have this stamp or a later one.
fn accesses(graph: &Graph, addr: Addr, from: u32, but: ThreadId) -> impl Iterator<Item = EventId> {
    let recent = move |id: &&EventId| graph.event(**id).stamp >= from;
    let reads = graph.reads(addr).iter().rev().take_while(recent);
    let writes = graph.writes(addr).iter().rev().take_while(recent);
    reads.chain(writes).copied().filter(move |id| id.thread != but)
}
