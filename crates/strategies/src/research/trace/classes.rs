//! How many traces differ in more than the order of steps that do not depend on each other.
//!
//! Two traces are equivalent when each read sees the same write and the writes of each location come
//! in the same order: the graph is the same. A set of [numbers](Graph::class) stands for the graphs seen;
//! two with the same number would count as one.

use unpick_core::graph::Graph;

/// The graphs that were seen.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    /// A table with open addressing; 0 is an empty place.
    table: Vec<u64>,
    len: usize,
}

impl Classes {
    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        self.len as u64
    }

    /// Forgets them.
    pub(crate) fn clear(&mut self) {
        self.table.fill(0);
        self.len = 0;
    }

    /// Adds the graph.
    pub(crate) fn insert(&mut self, graph: &Graph) {
        if (self.len + 1) * 4 > self.table.len() * 3 {
            let larger = vec![0; (self.table.len() * 2).max(64)];
            let old = std::mem::replace(&mut self.table, larger);
            old.into_iter().filter(|&number| number != 0).for_each(|number| self.put(number));
        }
        let before = self.len;
        let number = graph.class().max(1);
        let mask = self.table.len() - 1;
        let mut at = number as usize & mask;
        while self.table[at] != 0 && self.table[at] != number {
            at = (at + 1) & mask;
        }
        if self.table[at] == 0 {
            self.table[at] = number;
            self.len = before + 1;
        }
    }

    /// Puts a number that is not there into a table with room.
    fn put(&mut self, number: u64) {
        let mask = self.table.len() - 1;
        let mut at = number as usize & mask;
        while self.table[at] != 0 {
            at = (at + 1) & mask;
        }
        self.table[at] = number;
    }
}
