//! How many traces differ in more than the order of steps that do not depend on each other.
//!
//! Two traces are equivalent when each read sees the same write and the writes of each location come
//! in the same order: the graph is the same. A set of numbers stands for the graphs seen, of 64 bits
//! each; two graphs have the same number with a probability of 2⁻⁶⁴, and would then count as one.

use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::{Kind, ThreadId};

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
        let number = number_of(graph).max(1);
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

/// The number of a graph. Which location an op is about follows from what its thread has read, so
/// locations, whose numbers depend on the order of first use, are left out.
fn number_of(graph: &Graph) -> u64 {
    let mut number = 0x9e37_79b9_7f4a_7c15u64;
    let mut mix = |word: u64| {
        number = (number ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        number ^= number >> 32;
    };
    let name = |id: EventId| u64::from(id.thread.0) << 32 | u64::from(id.index);
    for thread in (0..graph.thread_count()).map(|t| ThreadId(t as u32)) {
        let events = graph.thread(thread);
        mix(events.len() as u64);
        for (index, event) in events.iter().enumerate() {
            if event.is_read() {
                mix(name(event.rf) << 1 | u64::from(event.is_update()));
            } else if event.kind == Kind::Write {
                let place = graph.position(event.addr, EventId::new(thread, index));
                mix(name(graph.write_at(event.addr, place - 1)));
            } else if event.kind == Kind::Choice {
                mix(event.value);
            }
        }
    }
    number
}
