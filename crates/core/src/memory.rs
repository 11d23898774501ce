//! Memory models: which graphs are consistent.

use crate::event::EventId;
use crate::graph::{Graph, Synchronisation};

/// What a total order of a graph's events must contain, besides program order, spawns and joins, to
/// be taken for an interleaving that leads to the graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linear {
    /// `rf`: each read comes after the write that it sees.
    ReadsFrom,
    /// `rf`, `mo` and `fr`: each read sees the last write before it.
    Memory,
}

/// A memory model.
///
/// Coherence and atomicity are common to all models and kept by construction: a read is offered
/// only writes from [`Graph::floor`] on, a write only places after it, and a successful
/// read-modify-write follows the write it reads. What is left to a model is which accesses
/// synchronise, and its axiom on the whole graph.
///
/// A model must be closed under `porf`-prefixes, keep `po ∪ rf` acyclic, and allow a new event to
/// read the newest write or to be placed last; the search relies on all three.
pub trait MemoryModel: Send {
    /// The name by which users choose it.
    fn name(&self) -> &'static str;

    /// Which accesses synchronise.
    fn synchronisation(&self) -> Synchronisation;

    /// Whether the graph is consistent, given that it would be without the `changed` events,
    /// which are the last ones of their threads.
    fn consistent(&mut self, graph: &Graph, changed: &[EventId]) -> bool;

    /// What an interleaving that leads to a graph must contain.
    fn linear(&self) -> Linear {
        Linear::ReadsFrom
    }

    /// How many events it has looked at so far to tell, about; it may not count where that is quick.
    fn effort(&self) -> u64 {
        0
    }

    /// Whether each execution is an interleaving in which reads see the newest write: then it is
    /// enough to draw threads at random.
    fn interleaves(&self) -> bool {
        false
    }

    /// Whether compilers put a full fence after a SeqCst store on such a machine.
    fn flushes_stores(&self) -> bool {
        false
    }

    /// What a verdict under this model rests on, a sentence each.
    fn assumptions(&self) -> &'static [&'static str];
}
