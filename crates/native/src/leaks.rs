//! Memory that is left behind: blocks that nobody has freed, and that nothing leads to any more.
//!
//! Whatever in static memory, or in the thread-local storage of the main thread, looks like an address of a block leads
//! to it, and so does what lies in a block that something leads to. Blocks that the C library has taken for itself are
//! its own business.

use unpick_core::op::ThreadId;
use unpick_core::violation::{Block, Kind, Point, Violation};

use crate::heap;
use crate::session::Session;

impl Session {
    /// The violation of an execution in which all threads have ended, if memory is left behind.
    pub(crate) fn leak(&mut self) -> Option<Violation> {
        if !self.limits.leaks {
            return None;
        }
        let is_own = |site: unpick_core::op::Site| !self.modules.is_system(site.0 as usize);
        let left: Vec<heap::Found> = heap::left()
            .into_iter()
            .filter(|found| is_own(found.block.site) && !self.retired.contains(&found.block.start))
            .collect();
        if left.is_empty() {
            return None;
        }
        let reached = self.reached();
        let lost = left.iter().filter(|found| reached.binary_search(&found.block.start).is_err());
        let mut lost = lost.filter(|found| !self.is_known_leak(found.block.site));
        let first = lost.next()?;
        let thread = first.thread.unwrap_or(ThreadId::MAIN);
        let heap::Block { birth, size, site, .. } = first.block;
        let block = Block { thread, number: first.number, birth, size: size as u32 };
        let point = Point { thread, index: birth, site };
        Some(Violation { kind: Kind::Leak { block, others: lost.count() }, point })
    }

    /// The blocks that something leads to, by their addresses in order.
    fn reached(&self) -> Vec<usize> {
        let mut reached = Vec::new();
        let mut pending: Vec<(usize, usize)> = self.roots();
        while let Some((from, to)) = pending.pop() {
            for at in (from.next_multiple_of(8)..to.saturating_sub(7)).step_by(8) {
                // SAFETY: memory of the program, which does not run.
                let word = unsafe { *(at as *const usize) };
                if !heap::contains(word) {
                    continue;
                }
                let Some(found) = heap::find(word) else { continue };
                let heap::Block { start, size, freed, .. } = found.block;
                // One past the end is an address of the block as well.
                if word > start + size || freed.is_some() {
                    continue;
                }
                if let Err(place) = reached.binary_search(&start) {
                    reached.insert(place, start);
                    pending.push((start, start + size));
                }
            }
        }
        reached
    }
}
