//! Where a thread may be left, and whether that is worth it.

use unpick_core::clock::knows;
use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::{Addr, Kind, Rmw, ThreadId};
use unpick_core::strategy::Ready;

use super::conflicts::waiting;
use super::{InOrder, Item, NONE, Sleep, Until, What, slot};

impl InOrder {
    /// Marks the states in which a thread may be left because this thread takes a fence.
    pub(super) fn mark_fence(&mut self, thread: ThreadId) {
        let conflicts = |_, until, _| Some(matches!(until, Until::Fenced | Until::Changed { seqcst: true }));
        for slot in 0..self.leaves.len() {
            self.mark_if(slot, thread, conflicts);
        }
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
        let conflicts = |thread, until, len: u32| {
            let op = graph.order()[len as usize];
            // The thread may have been left just there, for another reason.
            if op.thread != thread {
                return Some(false);
            }
            if knows(prefix, op) {
                return None;
            }
            Some(match until {
                Until::Written => changes,
                Until::Changed { seqcst } => changes || seqcst,
                Until::Fenced => true,
                Until::Waited(_) => waits,
            })
        };
        self.mark_if(slot(event.addr), id.thread, conflicts);
        if seqcst {
            self.mark_if(slot(Addr::NONE), id.thread, conflicts);
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
                let left = graph.order().get(len as usize).filter(|left| left.thread == thread);
                left.map_or(Some(false), |&left| (!knows(&view, left)).then_some(true))
            });
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
        let item = self.items.pop()?;
        self.branches.take(self.items.len());
        if let What::Leave { thread, sleep, earlier, .. } = item.what {
            let last = &mut self.leaves[slot(sleep.addr)][thread.index()];
            if *last as usize == self.items.len() {
                *last = earlier;
            }
        }
        Some(item)
    }
}
