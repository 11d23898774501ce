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

#[cfg(test)]
mod tests {
    use unpick_core::graph::Synchronisation;
    use unpick_core::op::{Op, Site, ThreadId};

    use super::*;

    /// A graph of three events of one thread.
    fn three() -> (Graph, [EventId; 3]) {
        let mut graph = Graph::new(Synchronisation::AsWritten);
        let events = [(); 3].map(|()| graph.add(ThreadId::MAIN, &Op::choice(1, Site(1))));
        (graph, events)
    }

    #[test]
    fn a_node_is_visited_once_in_each_role() {
        let (graph, [event, ..]) = three();
        let mut search = Search::default();
        search.start(&graph, 2);
        for role in [0, 1, 0, 1] {
            search.push(&graph, event, role, 2);
        }
        assert_eq!([search.pop(), search.pop(), search.pop()], [Some((event, 1)), Some((event, 0)), None]);
    }

    #[test]
    fn the_initial_write_is_no_node() {
        let (graph, _) = three();
        let mut search = Search::default();
        search.start(&graph, 1);
        search.push(&graph, EventId::INIT, 0, 1);
        assert_eq!(search.pop(), None);
    }

    #[test]
    fn a_search_returns_only_by_a_cycle_through_its_start() {
        let (graph, [first, second, third]) = three();
        let steps = |search: &mut Search, graph: &Graph, event| {
            // The second and the third lead to each other, the first to both.
            let next = if event == second { third } else { second };
            search.push(graph, next, 0, 1);
        };
        let mut search = Search::default();
        assert_eq!(
            [first, second, third].map(|start| search.returns(&graph, start, steps)),
            [false, true, true]
        );
    }
}
