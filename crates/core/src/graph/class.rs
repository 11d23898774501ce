//! A number that stands for a graph: orders of steps with the same graph are equivalent.

use super::Graph;
use crate::event::EventId;
use crate::op::{Kind, ThreadId};

impl Graph {
    /// A number of 64 bits for what each read sees, how the writes of each location follow each other,
    /// and what was chosen. Two graphs that differ have the same number with a probability of 2⁻⁶⁴.
    ///
    /// Which location an op is about follows from what its thread has read, so locations, whose numbers
    /// depend on the order of first use, are left out. A graph that has let go of older events is told by
    /// the younger ones and by how many there were.
    pub fn class(&self) -> u64 {
        let mut number = 0x9e37_79b9_7f4a_7c15u64;
        let mut mix = |word: u64| {
            number = (number ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
            number ^= number >> 32;
        };
        let name = |id: EventId| u64::from(id.thread.0) << 32 | u64::from(id.index);
        for thread in (0..self.thread_count()).map(|t| ThreadId(t as u32)) {
            let base = self.base(thread);
            mix((base + self.thread(thread).len()) as u64);
            for (index, event) in self.thread(thread).iter().enumerate() {
                if event.is_read() {
                    mix(name(event.rf) << 1 | u64::from(event.is_update()));
                } else if event.kind == Kind::Write {
                    let own = EventId::new(thread, base + index);
                    let place = self.writes(event.addr).iter().rposition(|&write| write == own);
                    mix(place.map_or(0, |place| name(self.write_at(event.addr, place))));
                } else if event.kind == Kind::Choice {
                    mix(event.value);
                }
            }
        }
        number
    }
}
