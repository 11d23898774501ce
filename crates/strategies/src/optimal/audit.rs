//! What must hold of the items and of the graphs to come back to: each item refers to events of its own graph.

use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::{Kind, Rmw};

use super::{Item, Optimal};

impl Item {
    /// The length of the graph that the item belongs to.
    fn len(&self) -> u32 {
        match *self {
            Item::Source { len, .. }
            | Item::Place { len, .. }
            | Item::Revisit { len, .. }
            | Item::Retry { len, .. }
            | Item::Choice { len, .. } => len,
        }
    }

    /// Whether all that the item refers to is in its graph, which is the first part of `graph`.
    fn fits(&self, graph: &Graph) -> bool {
        let event = |id: EventId| graph.kept_event(id).filter(|event| event.stamp < self.len());
        let may_write = |id: EventId| {
            id.is_init() || event(id).is_some_and(|event| event.kind == Kind::Write || event.rmw != Rmw::None)
        };
        let reads = |id: EventId| event(id).is_some_and(|event| event.is_read());
        let same_place = |a: EventId, b: EventId| b.is_init() || graph.event(a).addr == graph.event(b).addr;
        self.len() as usize <= graph.len()
            && match *self {
                Item::Source { read, write, .. } => {
                    reads(read) && may_write(write) && same_place(read, write)
                }
                Item::Revisit { read, write, .. } => {
                    reads(read) && !write.is_init() && may_write(write) && same_place(read, write)
                }
                Item::Place { write, place, read, .. } => {
                    let there = event(write).is_some_and(|event| {
                        event.kind == Kind::Write && (place as usize) < graph.writes(event.addr).len()
                    });
                    there && read.is_none_or(|read| reads(read) && same_place(read, write))
                }
                Item::Retry { waiter, source, .. } => {
                    let there = source.is_init() || event(source).is_some_and(|e| e.addr == waiter.addr);
                    there && may_write(source) && waiter.addr.index() < graph.location_count()
                }
                Item::Choice { choice, .. } => event(choice).is_some_and(|event| event.kind == Kind::Choice),
            }
    }
}

impl Optimal {
    /// What is wrong with the items, if something is, now that the graph is this one.
    pub(super) fn item_flaw(&self, graph: &Graph) -> Option<String> {
        let ends = self.frames.iter().map(|frame| frame.items).chain([self.items.len()]);
        let graphs = self.frames.iter().map(|frame| &frame.graph).chain([graph]);
        let mut start = 0;
        for (depth, (end, graph)) in ends.zip(graphs).enumerate() {
            let Some(items) = self.items.get(start..end) else {
                return Some(format!("revisit {depth} has items {start}..{end}"));
            };
            start = end;
            if let Some(item) = items.iter().find(|item| !item.fits(graph)) {
                return Some(format!("an item after {depth} revisits is not of its graph: {item:?}"));
            }
            if !items.is_sorted_by_key(Item::len) {
                return Some(format!("items after {depth} revisits are not in order: {items:?}"));
            }
        }
        self.frames.iter().find_map(|frame| frame.graph.structure_flaw())
    }
}

#[cfg(test)]
mod tests {
    use unpick_core::graph::Synchronisation;
    use unpick_core::op::{Mode, Op, Site, ThreadId};

    use super::*;

    /// A graph of a write and a read that sees it, and a search whose only item is this.
    fn flaw(item: impl Fn(EventId, EventId) -> Item) -> Option<String> {
        let mut graph = Graph::new(Synchronisation::AsWritten);
        let addr = graph.add_location(0);
        let write = graph.add(ThreadId::MAIN, &Op::store(addr, Mode::Relaxed, 1, Site(1)));
        graph.insert_write(addr, 0, write);
        let read = graph.add(ThreadId::MAIN, &Op::load(addr, Mode::Relaxed, Site(2)));
        graph.read_from(read, write, false);
        let mut search = Optimal::new(false);
        search.items.push(item(write, read));
        search.item_flaw(&graph)
    }

    #[test]
    fn items_refer_to_events_of_their_graph() {
        let source = |read, write, len| Item::Source { read, write, len, spurious: false };
        assert_eq!(flaw(|write, read| source(read, write, 2)), None);
        assert!(flaw(|write, read| source(read, write, 1)).is_some(), "the read came later");
        assert!(flaw(|write, read| source(read, write, 3)).is_some(), "the graph is shorter");
        assert!(flaw(|write, read| source(write, read, 2)).is_some(), "the write does not read");
        let gone = EventId::new(ThreadId::MAIN, 2);
        assert!(flaw(|_, read| source(read, gone, 2)).is_some(), "there is no such write");
    }
}
