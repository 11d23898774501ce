//! What executions have covered: pairs of a write and a read that sees it, by their places in the
//! source.
//!
//! Such pairs are few, and a search that finds no new ones any more has seen most of what it will see.

use crate::event::EventId;
use crate::graph::Graph;
use crate::op::Site;
use crate::table::{Table, mix};

/// The place that stands for the initial value of a location.
pub const INITIAL: Site = Site(0);

/// Sets the place of a write apart from that of a read.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The reads-from pairs of all executions so far.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// For each pair the execution that had it last: 1 more than `begun` was then.
    pairs: Table,
    /// For each set of pairs how many executions had just those.
    combinations: Table,
    executions: u64,
    last_new: u64,
    /// A hash of the set of pairs of the execution in progress.
    combination: u64,
    last_combination: u64,
    known: Vec<(Site, Site)>,
    /// Counts executions, with those that were abandoned.
    begun: u64,
}

impl Coverage {
    /// Distinct pairs.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// The pairs in the order in which they were found: places of the write and of the read.
    pub fn known(&self) -> &[(Site, Site)] {
        &self.known
    }

    /// The execution that showed a new pair last, counted from 1; 0 if there was none.
    pub fn last_new(&self) -> u64 {
        self.last_new
    }

    /// The execution in progress has a read that sees a write, at these places.
    #[inline(always)]
    pub fn add(&mut self, write: Site, read: Site) {
        // Mixed well enough for a table; what is added up is mixed in full.
        let key = write.0.wrapping_mul(ODD).wrapping_add(read.0).wrapping_mul(ODD);
        let key = key ^ (key >> 32);
        if !self.pairs.is(key, self.begun + 1) {
            self.add_pair(key, write, read);
        }
    }

    /// Adds a pair that the execution in progress may not have had before.
    #[inline(never)]
    fn add_pair(&mut self, key: u64, write: Site, read: Site) {
        let before = std::mem::replace(self.pairs.entry(key), self.begun + 1);
        if before == self.begun + 1 {
            return;
        }
        self.combination = self.combination.wrapping_add(mix(key));
        if before == 0 {
            self.last_new = self.executions + 1;
            self.known.push((write, read));
        }
    }

    /// The execution is over. Says whether it showed a new pair, and how often its set of pairs has
    /// been seen by now.
    pub fn end(&mut self) -> (bool, u64) {
        self.executions += 1;
        let seen = match self.combinations.len() < MOST_COMBINATIONS {
            true => self.combinations.entry(self.combination),
            false => return (self.abandon(), u64::MAX),
        };
        *seen += 1;
        let seen = *seen;
        (self.abandon(), seen)
    }

    /// Forgets the execution in progress; says whether it showed a new pair.
    pub fn abandon(&mut self) -> bool {
        self.last_combination = std::mem::take(&mut self.combination);
        self.begun += 1;
        self.last_new == self.executions && self.executions > 0
    }

    /// How often an execution with just these pairs has been seen.
    pub fn seen(&self, combination: u64) -> u64 {
        self.combinations.get(combination).unwrap_or(0)
    }

    /// A name of the set of pairs of the last execution.
    pub fn last_combination(&self) -> u64 {
        self.last_combination
    }
}

/// Sets of pairs that are told apart; what comes after counts as seen often.
const MOST_COMBINATIONS: usize = 1 << 18;

/// The place of a write.
#[inline(always)]
pub fn site_of(graph: &Graph, write: EventId) -> Site {
    if write.is_init() { INITIAL } else { graph.event(write).site }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Synchronisation;
    use crate::op::{Mode, Op, ThreadId};

    #[test]
    fn pairs_and_sets_of_pairs_are_counted_once() {
        let mut coverage = Coverage::default();
        let mut run = |stale: bool| {
            let mut graph = Graph::new(Synchronisation::AsWritten);
            let addr = graph.add_location(0);
            let store = Op::store(addr, Mode::Relaxed, 1, Site(1));
            let write = graph.add(ThreadId::MAIN, &store);
            graph.insert_write(addr, 0, write);
            for _ in 0..3 {
                let read = graph.add(ThreadId::MAIN, &Op::load(addr, Mode::Relaxed, Site(2)));
                graph.read_from(read, if stale { EventId::INIT } else { write }, false);
                coverage.add(graph.source_of(read).site, Site(2));
            }
            let (new, seen) = coverage.end();
            (new, seen, coverage.pairs(), coverage.last_new())
        };
        assert_eq!(run(true), (true, 1, 1, 1));
        assert_eq!(run(true), (false, 2, 1, 1));
        assert_eq!(run(false), (true, 1, 2, 3));
        assert_eq!(run(true), (false, 3, 2, 3));
        assert_eq!(coverage.known(), [(INITIAL, Site(2)), (Site(1), Site(2))]);
    }
}
