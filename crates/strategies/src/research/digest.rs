//! `digest`: learns which decisions lead to what has not been seen yet.
//!
//! Bugs of weak memory come from a few accesses that are mutually cyclic in the union of happens-before,
//! coherence and the order of SeqCst operations: no interleaving explains them. So the events of an execution are grouped
//! into strongly connected components of that union, and a component is *digested*: each event to its
//! place in the source and the places of its neighbours, the component to the set of those. What
//! occurs with other threads, other locations, or more rounds of a loop has the same digest.
//!
//! The digest of the component that a thread stands in, before it reads, is a *state*. From a state
//! there are reads, from a read the writes that it may see, from a write the states that came after it.
//! A write that was never taken has a weight of 1, everything else the mean of what comes after it,
//! times a factor below 1. Threads and writes are drawn by weight. A thread goes on until it is to read.
//! From Snyder, "On fuzzing concurrent programs with C++ atomics" (thesis, UC Irvine, 2019).

use unpick_core::coverage::{Coverage, site_of};
use unpick_core::event::{Event, EventId};
use unpick_core::graph::Graph;
use unpick_core::op::{Op, ThreadId};
use unpick_core::strategy::Ready;
use unpick_core::table::{Table, mix, pair};

use crate::sample::{Draw, Policy};

/// By how much a weight shrinks from step to step.
const DECAY: f64 = 0.8;

/// What is added to each weight, so that everything stays possible.
const LEAST: f64 = 0.02;

/// Nodes that are learned at most.
const MOST_NODES: usize = 1 << 18;

/// Events before a new one in which its component is sought.
const NEAR: usize = 256;

/// What a node of the learned graph stands for, and what comes after it.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Reads of a state, writes of a read, or states after a write.
    next: Vec<u32>,
    weight: f64,
    /// Whether it is a write: one with nothing after it was never taken.
    is_write: bool,
}

/// What was learned: states, reads and writes.
#[derive(Debug, Default)]
pub(super) struct Learned {
    nodes: Vec<Node>,
    by_name: Table,
}

impl Learned {
    /// The node with this name; `None` when there are too many.
    fn node(&mut self, name: u64, is_write: bool) -> Option<u32> {
        if let Some(number) = self.by_name.get(name) {
            return Some(number as u32);
        }
        if self.nodes.len() >= MOST_NODES {
            return None;
        }
        let number = self.nodes.len() as u32;
        *self.by_name.entry(name) = number.into();
        self.nodes.push(Node { next: Vec::new(), weight: if is_write { 1.0 } else { 0.0 }, is_write });
        Some(number)
    }

    /// The node that stands after another under this name.
    fn after(&mut self, before: u32, name: u64, is_write: bool) -> Option<u32> {
        let node = self.node(name, is_write)?;
        self.link(before, node);
        Some(node)
    }

    fn link(&mut self, before: u32, after: u32) {
        let next = &mut self.nodes[before as usize].next;
        if let Err(place) = next.binary_search(&after) {
            next.insert(place, after);
        }
    }

    /// Brings the weight of a node up to date with what comes after it. Returns by how much it changed.
    fn weigh(&mut self, node: u32) -> f64 {
        let Node { next, weight, is_write } = &self.nodes[node as usize];
        let new = match next.len() {
            0 if *is_write => 1.0,
            0 => 0.0,
            count => DECAY * next.iter().map(|&n| self.nodes[n as usize].weight).sum::<f64>() / count as f64,
        };
        let change = (new - weight).abs();
        self.nodes[node as usize].weight = new;
        change
    }

    /// The weight of a node by its name; one that is not known is worth a look.
    fn weight(&self, name: u64) -> f64 {
        self.by_name.get(name).map_or(1.0, |number| self.nodes[number as usize].weight)
    }
}

/// The components of an execution.
#[derive(Debug, Default)]
pub(super) struct Components {
    /// For each event, by its stamp, the component it is in.
    of: Vec<u32>,
    /// The digests of the events of each component, sorted.
    digests: Vec<Vec<u64>>,
    used: usize,
    reached: Vec<bool>,
    stack: Vec<EventId>,
    near: Vec<EventId>,
}

impl Components {
    fn clear(&mut self) {
        self.of.clear();
        self.used = 0;
    }

    /// Takes in the events that the graph has got, up to this number.
    fn update(&mut self, graph: &Graph, len: usize) {
        for stamp in self.of.len()..len {
            self.add(graph, graph.order()[stamp]);
        }
    }

    fn add(&mut self, graph: &Graph, id: EventId) {
        let component = self.used as u32;
        if self.used == self.digests.len() {
            self.digests.push(Vec::new());
        }
        self.digests[self.used].clear();
        self.digests[self.used].push(digest(graph, id));
        self.used += 1;
        self.of.push(component);
        // Edges to older events: coherence after a read of something stale, or a write that is not last.
        let event = graph.event(id);
        let stamp = event.stamp as usize;
        let seen = if event.is_write() { id } else { event.rf };
        if graph.is_past(id) || !(event.is_read() || event.is_write()) {
            return;
        }
        let after = graph.writes(event.addr).get(graph.position(event.addr, seen)).copied();
        if let Some(after) = after.filter(|&after| !graph.is_past(after)) {
            let start = graph.event(after).stamp as usize;
            if start < stamp && stamp - start <= NEAR {
                self.merge(graph, start, stamp);
            }
        }
    }

    /// Merges the events that lie on a way from the one stamped `start` to the one stamped `end`.
    fn merge(&mut self, graph: &Graph, start: usize, end: usize) {
        let order = graph.order();
        // Backwards from the end, within the range.
        self.reached.clear();
        self.reached.resize(end - start + 1, false);
        self.stack.clear();
        self.stack.push(order[end]);
        self.reached[end - start] = true;
        while let Some(id) = self.stack.pop() {
            self.near.clear();
            push_before(graph, id, &mut self.near);
            for &before in &self.near {
                if graph.is_past(before) {
                    continue;
                }
                let stamp = graph.event(before).stamp as usize;
                if (start..=end).contains(&stamp)
                    && !std::mem::replace(&mut self.reached[stamp - start], true)
                {
                    self.stack.push(before);
                }
            }
        }
        if !self.reached[0] {
            return;
        }
        // Of those, the ones that the start leads to. Stamps extend the order but for merged components.
        let mut from = vec![false; end - start + 1];
        from[0] = true;
        for stamp in start + 1..=end {
            if !self.reached[stamp - start] {
                continue;
            }
            self.near.clear();
            push_before(graph, order[stamp], &mut self.near);
            from[stamp - start] = self.near.iter().any(|&before| {
                !graph.is_past(before) && {
                    let other = graph.event(before).stamp as usize;
                    (start..stamp).contains(&other) && from[other - start]
                }
            });
        }
        let target = self.of[end];
        for stamp in start..end {
            let old = self.of[stamp];
            if from[stamp - start] && old != target {
                let moved = std::mem::take(&mut self.digests[old as usize]);
                let digests = &mut self.digests[target as usize];
                digests.extend(moved);
                digests.sort_unstable();
                digests.dedup();
                self.of
                    .iter_mut()
                    .filter(|component| **component == old)
                    .for_each(|component| *component = target);
            }
        }
    }

    /// The digest of the component that a thread stands in after `len` of its events. The graph may have one
    /// more event, which has not been decided yet.
    pub(super) fn state(&mut self, graph: &Graph, thread: ThreadId, len: usize) -> u64 {
        let undecided = usize::from(graph.thread_len(thread) > len);
        self.update(graph, graph.len() - undecided);
        let Some(index) = len.checked_sub(1) else { return 0 };
        let stamp = graph.event(EventId::new(thread, index)).stamp as usize;
        let digests = &self.digests[self.of[stamp] as usize];
        digests.iter().fold(1, |hash, &digest| pair(hash, digest))
    }
}

/// The events directly before one, in happens-before or coherence.
fn push_before(graph: &Graph, id: EventId, before: &mut Vec<EventId>) {
    before.extend(before_by_hb(graph, id));
    push_coherent_before(graph, id, before);
}

/// The event before it in its thread, or the one that spawned the thread.
fn before_by_hb(graph: &Graph, id: EventId) -> Option<EventId> {
    match id.index {
        0 => graph.spawn_of(id.thread),
        index => Some(EventId { index: index - 1, ..id }),
    }
}

/// The events directly before one in coherence: what it sees or follows, and who has seen what it overwrites.
fn push_coherent_before(graph: &Graph, id: EventId, before: &mut Vec<EventId>) {
    let event = graph.event(id);
    if event.is_read() && !event.rf.is_init() {
        before.push(event.rf);
    }
    if event.is_write() {
        let position = graph.position(event.addr, id);
        let below = if position == 0 { EventId::INIT } else { graph.write_at(event.addr, position - 1) };
        if !below.is_init() {
            before.push(below);
        }
        let recent = graph.reads(event.addr).iter().rev().take(NEAR);
        before.extend(recent.filter(|&&read| read != id && graph.event(read).rf == below));
    }
}

/// A set of places as a number: the order does not count, nor does how often one occurs.
fn places(graph: &Graph, events: &[EventId]) -> u64 {
    let mut sites: Vec<u64> = events.iter().map(|&id| site_of(graph, id).0).collect();
    sites.sort_unstable();
    sites.dedup();
    sites.into_iter().fold(0, pair)
}

/// An event without threads, locations and numbers: its place, and those of its neighbours.
pub(super) fn digest(graph: &Graph, id: EventId) -> u64 {
    let event = graph.event(id);
    if graph.is_past(id) {
        return mix(event.site.0);
    }
    let stays = |before: &EventId| !graph.is_past(*before);
    let mut hb: Vec<EventId> = before_by_hb(graph, id).filter(stays).into_iter().collect();
    let mut coherent = Vec::new();
    if event.is_read() || event.is_write() {
        push_coherent_before(graph, id, &mut coherent);
    }
    coherent.retain(stays);
    if event.is_read() && event.has(Event::ACQUIRES) && !graph.is_past(event.rf) {
        hb.push(event.rf);
    }
    let is_seqcst = |id: &EventId| graph.event(*id).has(Event::SEQCST);
    let seqcst: Vec<EventId> =
        if is_seqcst(&id) { coherent.iter().copied().filter(is_seqcst).collect() } else { Vec::new() };
    let neighbours = [places(graph, &hb), places(graph, &coherent), places(graph, &seqcst)];
    neighbours.into_iter().fold(mix(event.site.0), pair)
}

/// A decision of the run in progress: nodes of the state, the read and the write.
type Decision = (u32, u32, u32);

/// The policy.
#[derive(Debug, Default)]
pub(crate) struct Digest {
    learned: Learned,
    components: Components,
    active: Option<ThreadId>,
    /// What each thread decided last, as the number of its write node.
    last: Vec<Option<u32>>,
    taken: Vec<Decision>,
    weights: Vec<f64>,
    threads: Vec<ThreadId>,
}

impl Digest {
    fn name_of_read(state: u64, op_site: u64) -> u64 {
        pair(pair(state, 1), op_site)
    }
}

impl Policy for Digest {
    const CHOOSES: bool = true;
    const RUNS_AHEAD: bool = true;

    fn name(&self) -> &'static str {
        "digest"
    }

    fn begin(&mut self, _: &Coverage, _: &mut Draw) {
        self.components.clear();
        self.active = None;
        self.last.clear();
        self.taken.clear();
    }

    fn pick(&mut self, graph: &Graph, ready: &Ready, draw: &mut Draw) -> ThreadId {
        if let Some(thread) = self.active.filter(|&thread| ready.others.contains(thread)) {
            return thread;
        }
        // Threads that are new, or that do not read, go first.
        let fresh = |&thread: &ThreadId| graph.thread_len(thread) == 0;
        let first = ready.others.iter().find(fresh).or_else(|| ready.others.first());
        if let Some(thread) = first {
            self.active = Some(thread);
            return thread;
        }
        self.threads.clear();
        self.threads.extend(ready.reads.iter());
        self.weights.clear();
        for &thread in &self.threads {
            let site = ready.op(thread).map_or(0, |op: &Op| op.site.0);
            let state = self.components.state(graph, thread, graph.thread_len(thread));
            self.weights.push(self.learned.weight(Digest::name_of_read(state, site)) + LEAST);
        }
        let thread = self.threads[draw.weighted(&self.weights)];
        self.active = Some(thread);
        thread
    }

    fn choose(
        &mut self,
        graph: &Graph,
        read: EventId,
        sources: &[EventId],
        draw: &mut Draw,
    ) -> Option<usize> {
        // The read is in the graph already, but sees nothing yet.
        let event = graph.event(read);
        let state = self.components.state(graph, read.thread, read.index as usize);
        let state_node = self.learned.node(pair(state, 0), false)?;
        if let Some(Some(write)) = self.last.get(read.thread.index()) {
            self.learned.link(*write, state_node);
        }
        let name = Digest::name_of_read(state, event.site.0);
        let read_node = self.learned.after(state_node, name, false)?;
        self.weights.clear();
        let mut nodes = Vec::with_capacity(sources.len());
        for &source in sources {
            let write = if source.is_init() { 0 } else { digest(graph, source) };
            let node = self.learned.after(read_node, pair(name, write), true)?;
            nodes.push(node);
            self.weights.push(self.learned.nodes[node as usize].weight + LEAST);
        }
        let chosen = draw.weighted(&self.weights);
        self.last.resize(self.last.len().max(read.thread.index() + 1), None);
        self.last[read.thread.index()] = Some(nodes[chosen]);
        self.taken.push((state_node, read_node, nodes[chosen]));
        Some(chosen)
    }

    fn forget(&mut self) {
        self.components.clear();
    }

    fn end(&mut self, _: &Graph, _: &Coverage, _: bool, _: u64) {
        // The last write of each thread leads to its end.
        if let Some(end) = self.learned.node(END, false) {
            for write in self.last.iter().flatten() {
                self.learned.link(*write, end);
            }
        }
        for &(state, read, write) in self.taken.iter().rev() {
            self.learned.weigh(write);
            self.learned.weigh(read);
            self.learned.weigh(state);
        }
    }
}

/// The name of the state after the last read of a thread.
const END: u64 = 0x656e_6400;

#[cfg(test)]
mod tests {
    use unpick_core::graph::Synchronisation;
    use unpick_core::op::{Addr, Mode, Site};

    use super::*;

    /// A graph of two threads: one writes, the other reads a number of times, all but the last something stale.
    fn spinning(writer: u32, reader: u32, addr: Addr, rounds: usize) -> Graph {
        let mut graph = Graph::new(Synchronisation::AsWritten);
        for _ in 0..=addr.0 {
            graph.add_location(0);
        }
        for thread in [1u64, 2] {
            graph.add_with_value(ThreadId::MAIN, &Op::spawn(Site(1)), thread);
        }
        let write = graph.add(ThreadId(writer), &Op::store(addr, Mode::Release, 1, Site(2)));
        graph.insert_write(addr, 0, write);
        for round in 0..rounds {
            let read = graph.add(ThreadId(reader), &Op::load(addr, Mode::Acquire, Site(3)));
            let last = round + 1 == rounds;
            graph.read_from(read, if last { write } else { EventId::INIT }, false);
        }
        graph
    }

    fn state(graph: &Graph, thread: u32) -> u64 {
        Components::default().state(graph, ThreadId(thread), graph.thread_len(ThreadId(thread)))
    }

    #[test]
    fn threads_and_locations_do_not_count() {
        let one = spinning(1, 2, Addr(0), 3);
        let other = spinning(2, 1, Addr(4), 3);
        assert_eq!(state(&one, 2), state(&other, 1));
        assert_eq!(state(&one, 1), state(&other, 2));
        assert_ne!(state(&one, 1), state(&one, 2));
    }

    #[test]
    fn rounds_of_a_loop_do_not_count() {
        let states = [3, 4, 30].map(|rounds| state(&spinning(1, 2, Addr(0), rounds), 2));
        assert_eq!([states[0]; 3], states);
        assert_ne!(states[0], state(&spinning(1, 2, Addr(0), 1), 2));
    }

    /// Store buffering in which both reads miss the other's write: all four events are mutually cyclic.
    #[test]
    fn what_no_interleaving_explains_is_one_component() {
        let mut graph = Graph::new(Synchronisation::AsWritten);
        let (x, y) = (graph.add_location(0), graph.add_location(0));
        for thread in [1u64, 2] {
            graph.add_with_value(ThreadId::MAIN, &Op::spawn(Site(1)), thread);
        }
        for (thread, to, from) in [(1, x, y), (2, y, x)] {
            let write = graph.add(ThreadId(thread), &Op::store(to, Mode::Relaxed, 1, Site(2)));
            graph.insert_write(to, 0, write);
            let read = graph.add(ThreadId(thread), &Op::load(from, Mode::Relaxed, Site(3)));
            graph.read_from(read, EventId::INIT, false);
        }
        let mut components = Components::default();
        components.update(&graph, graph.len());
        let of = |thread: u32, index: usize| {
            components.of[graph.event(EventId::new(ThreadId(thread), index)).stamp as usize]
        };
        assert_eq!([of(1, 0); 4], [of(1, 0), of(1, 1), of(2, 0), of(2, 1)]);
        assert_ne!(of(0, 0), of(1, 0));
    }

    #[test]
    fn weights_come_from_what_was_never_taken() {
        let mut learned = Learned::default();
        let state = learned.node(1, false).unwrap();
        let read = learned.after(state, 2, false).unwrap();
        let taken = learned.after(read, 3, true).unwrap();
        let next = learned.node(4, false).unwrap();
        learned.link(taken, next);
        let deep = learned.after(next, 5, false).unwrap();
        let leaf = learned.after(deep, 6, true).unwrap();
        let path = [leaf, deep, next, taken, read, state];
        path.iter().for_each(|&node| {
            learned.weigh(node);
        });
        for (depth, &node) in path.iter().enumerate() {
            let weight = learned.nodes[node as usize].weight;
            assert!((weight - DECAY.powi(depth as i32)).abs() < 1e-9, "{depth}: {weight}");
        }
        let end = learned.node(7, false).unwrap();
        learned.link(leaf, end);
        path.iter().for_each(|&node| {
            learned.weigh(node);
        });
        assert!(path.iter().all(|&node| learned.nodes[node as usize].weight == 0.0));
    }
}
