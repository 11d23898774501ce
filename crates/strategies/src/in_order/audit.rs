//! What must hold of the decisions that can be taken otherwise: each refers to events and switches that are there.

use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::Kind;

use super::{InOrder, Item, What};

impl Item {
    fn fits(&self, graph: &Graph, switches: usize, items: usize) -> bool {
        let event = |id: EventId| graph.kept_event(id).filter(|event| event.stamp < self.len);
        let last = |id: EventId| event(id).filter(|event| event.stamp + 1 == self.len);
        let what = match self.what {
            What::Source { read, write, .. } => {
                let seen = write.is_init() || event(write).is_some_and(|event| event.is_write());
                seen && last(read).is_some_and(|event| event.is_read())
            }
            What::Choice { choice, .. } => last(choice).is_some_and(|event| event.kind == Kind::Choice),
            What::Leave { thread, .. } => graph.exists(thread),
            What::Turn { thread, start, .. } => graph.exists(thread) && start as usize <= items,
        };
        what && self.len as usize <= graph.len() && self.switches as usize <= switches
    }
}

impl InOrder {
    /// What is wrong with the decisions, if something is, now that the graph is this one.
    pub(super) fn item_flaw(&self, graph: &Graph) -> Option<String> {
        let fits = |item: &&Item| !item.fits(graph, self.switches.len(), self.items.len());
        if let Some(item) = self.items.iter().find(fits) {
            return Some(format!("a decision is not of this graph: {item:?}"));
        }
        if !self.items.is_sorted_by_key(|item| (item.len, item.switches)) {
            return Some(format!("decisions are not in order: {:?}", self.items));
        }
        let pauses = self.switches.iter().map(|switch| switch.pauses as usize);
        let ordered = self.switches.is_sorted_by_key(|switch| (switch.len, switch.used, switch.pauses));
        let there = pauses.max().is_none_or(|last| last <= self.pauses.len());
        (!ordered || !there).then(|| format!("switches are not in order: {:?}", self.switches))
    }
}
