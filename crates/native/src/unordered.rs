//! Writes to one atomic variable that nothing orders: no violation, but the value that is left is a matter of chance.
//!
//! They are looked for in the finished graph, on request. A read-modify-write builds on what was there, so two of these are
//! ordered in what they do; at least one of a pair is a store.

use unpick_core::clock::knows;
use unpick_core::event::EventId;
use unpick_core::op::{Addr, Site};
use unpick_native_wire::{Home, Mark, Object, Spot, Warning, mark};

use crate::heap;
use crate::session::{Session, thread_name};

/// Warnings at most.
const MOST: usize = 20;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Unordered {
    /// Places of the pairs, in order.
    known: Vec<[Site; 2]>,
    pub(crate) warnings: Vec<Warning>,
}

impl Session {
    /// Looks for such writes in the execution that has just ended, whose memory is still there.
    pub(crate) fn look_for_unordered(&mut self) {
        let graph = self.search.execution.graph();
        if graph.is_compacted() {
            return;
        }
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for addr in (0..graph.location_count()).map(|index| Addr(index as u32)) {
            let Some(key) = self.places.keys.get(addr.index()).copied().flatten() else { continue };
            let writes = graph.writes(addr);
            if key.kind != "atomic" || writes.len() < 2 {
                continue;
            }
            for (position, &a) in writes.iter().enumerate() {
                graph.hb_into(a, &mut first);
                for &b in &writes[position + 1..] {
                    let (left, right) = (graph.event(a), graph.event(b));
                    let both_update = left.is_update() && right.is_update();
                    if a.thread == b.thread || both_update || knows(&first, b) {
                        continue;
                    }
                    let mut sites = [left.site, right.site];
                    sites.sort_unstable();
                    graph.hb_into(b, &mut second);
                    let full = self.unordered.known.len() == MOST;
                    if full || knows(&second, a) || self.unordered.known.contains(&sites) {
                        continue;
                    }
                    self.unordered.known.push(sites);
                    let told = |id: EventId| {
                        format!("by {} at {}", thread_name(id.thread), self.told_site(graph.event(id).site))
                    };
                    let text = format!(
                        "two writes to `{}` are not ordered by happens-before, and either may be the last: {} and {}",
                        mark(Mark::Object(0)),
                        told(a),
                        told(b)
                    );
                    let object = self.placed(key.address, key.width);
                    self.unordered.warnings.push(Warning { text, object });
                }
            }
        }
    }

    /// An atomic variable, and where it lies.
    fn placed(&self, address: usize, size: usize) -> Object {
        let home = match (self.modules.code(address), heap::contains(address)) {
            (_, true) => heap::find(address).map_or(Home::Unknown, |found| Home::Heap {
                offset: (address - found.block.start) as u64,
                size: found.block.size as u64,
                allocated: self
                    .modules
                    .code(found.block.site.0 as usize)
                    .map(|code| Spot { code, callers: Vec::new() }),
            }),
            (Some(code), _) => Home::Static(code),
            (None, false) => Home::Unknown,
        };
        Object { kind: String::from("atomic"), address: address as u64, size: size as u64, home }
    }
}
