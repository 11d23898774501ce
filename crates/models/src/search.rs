//! Depth-first search over the events of a graph, in buffers that are used again.

use unpick_core::event::EventId;
use unpick_core::graph::Graph;

/// Nodes still to visit, and those seen. A node is an event and one of a few roles.
#[derive(Debug, Default)]
pub(crate) struct Search {
    stack: Vec<(EventId, u8)>,
    seen: Vec<u64>,
    effort: u64,
}

impl Search {
    /// Forgets everything; the graph has roles `0..roles` for each event.
    #[inline]
    pub(crate) fn start(&mut self, graph: &Graph, roles: usize) {
        self.stack.clear();
        self.seen.clear();
        self.seen.resize((graph.len() * roles).div_ceil(64), 0);
        self.effort += self.seen.len() as u64;
    }

    /// Adds a node unless it was seen. The initial write is never a node, nor is an event that the graph
    /// has let go: nothing leads back to those.
    #[inline]
    pub(crate) fn push(&mut self, graph: &Graph, event: EventId, role: u8, roles: usize) {
        if graph.is_past(event) {
            return;
        }
        let bit = graph.event(event).stamp as usize * roles + role as usize;
        if self.seen[bit / 64] >> (bit % 64) & 1 == 0 {
            self.seen[bit / 64] |= 1 << (bit % 64);
            self.stack.push((event, role));
            self.effort += 1;
        }
    }

    /// Counts events that are looked at without becoming nodes.
    #[inline]
    pub(crate) fn look_at(&mut self, events: usize) {
        self.effort += events as u64;
    }

    /// How many events have been looked at.
    pub(crate) fn effort(&self) -> u64 {
        self.effort
    }

    /// The next node.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(EventId, u8)> {
        self.stack.pop()
    }

    /// Whether steps from event to event, which `follow` adds, lead back to `start`.
    pub(crate) fn returns(
        &mut self,
        graph: &Graph,
        start: EventId,
        follow: impl Fn(&mut Search, &Graph, EventId),
    ) -> bool {
        self.start(graph, 1);
        follow(self, graph, start);
        while let Some((event, _)) = self.pop() {
            if event == start {
                return true;
            }
            follow(self, graph, event);
        }
        false
    }
}
