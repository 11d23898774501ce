//! Data races: two accesses to one place by different threads, unordered, one a write, one not
//! atomic.
//!
//! Accesses that are events are compared in the finished graph ([`in_graph`]). Plain accesses that
//! are not events are compared as they run, each with those before it ([`Cells`]). That is enough:
//! threads run in an order that extends `hb`, so no later event can order the pair. An access that
//! is no event takes place before its thread's next event, and is known to whoever knows that one.

use unpick_core::clock::knows;
use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::op::{Addr, Site, ThreadId};
use unpick_core::violation::{Access, Kind, Point, Violation};

/// A race between two events of the graph.
pub fn in_graph(graph: &Graph) -> Option<Violation> {
    if !graph.has_plain() {
        return None;
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let is_plain = |id: EventId| !graph.event(id).mode.is_atomic();
    let mut accesses: Vec<EventId> = Vec::new();
    for addr in (0..graph.location_count()).map(|i| Addr(i as u32)) {
        let (writes, reads) = (graph.writes(addr), graph.reads(addr));
        if !writes.iter().chain(reads).any(|&id| is_plain(id)) {
            continue;
        }
        accesses.clear();
        accesses.extend(writes);
        accesses.extend(reads.iter().filter(|&&r| !graph.event(r).is_update()));
        for (i, &a) in accesses.iter().enumerate() {
            graph.hb_into(a, &mut first);
            let plain = is_plain(a);
            for &b in &accesses[i + 1..] {
                let (left, right) = (graph.event(a), graph.event(b));
                let conflict = left.is_write() || right.is_write();
                if a.thread == b.thread || !conflict || !(plain || is_plain(b)) || knows(&first, b) {
                    continue;
                }
                graph.hb_into(b, &mut second);
                if knows(&second, a) {
                    continue;
                }
                let access = |id: EventId| Access {
                    point: Point { thread: id.thread, index: id.index, site: graph.event(id).site },
                    writes: graph.event(id).is_write(),
                    atomic: graph.event(id).mode.is_atomic(),
                };
                let accesses = [access(a), access(b)];
                let kind = Kind::Race { accesses, object: String::from("a plain location") };
                return Some(Violation { kind, point: access(b).point });
            }
        }
    }
    None
}

/// When an access took place: before the thread's event at `index`.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    thread: ThreadId,
    index: u32,
    site: Site,
}

/// What is remembered of one place: its last write, and the reads since.
#[derive(Debug, Default)]
struct Cell {
    write: Option<Epoch>,
    reads: Vec<Epoch>,
}

/// The plain places of one execution.
#[derive(Debug, Default)]
pub struct Cells {
    cells: Vec<Cell>,
    used: usize,
}

impl Cells {
    /// No places.
    pub fn new() -> Cells {
        Cells::default()
    }

    /// Forgets the places of the last execution.
    pub fn clear(&mut self) {
        for cell in &mut self.cells[..self.used] {
            cell.write = None;
            cell.reads.clear();
        }
        self.used = 0;
    }

    /// A new place.
    pub fn add(&mut self) -> u32 {
        if self.used == self.cells.len() {
            self.cells.push(Cell::default());
        }
        self.used += 1;
        self.used as u32 - 1
    }

    /// An access to a place that someone who knows `view` does not know of, nor is told: what stands against
    /// freeing its memory.
    pub fn unknown(
        &self,
        cell: u32,
        thread: ThreadId,
        view: &[u32],
        told: impl Fn(&Access) -> bool,
    ) -> Option<Access> {
        let cell = self.cells.get(cell as usize)?;
        let accesses = cell.write.iter().map(|write| (write, true));
        let mut accesses = accesses.chain(cell.reads.iter().map(|read| (read, false)));
        accesses.find_map(|(epoch, writes)| {
            let next = EventId { thread: epoch.thread, index: epoch.index };
            let point = Point { thread: epoch.thread, index: epoch.index, site: epoch.site };
            let access = Access { point, writes, atomic: false };
            (epoch.thread != thread && !knows(view, next) && !told(&access)).then_some(access)
        })
    }

    /// An access by a thread that knows `view` and stands before its event at `point.index`: the
    /// access that it races with, if there is one.
    #[inline]
    pub fn access(&mut self, cell: u32, point: Point, writes: bool, view: &[u32]) -> Option<[Access; 2]> {
        let cell = &mut self.cells[cell as usize];
        let racing = cell.racing(point, writes, view);
        let epoch = Epoch { thread: point.thread, index: point.index, site: point.site };
        if writes {
            cell.write = Some(epoch);
            cell.reads.clear();
        } else if let Some(read) = cell.reads.iter_mut().find(|read| read.thread == point.thread) {
            *read = epoch;
        } else {
            cell.reads.push(epoch);
        }
        racing
    }

    /// The end of an access that has lasted until before the event at `point.index`: what it races with.
    pub fn end_access(&mut self, cell: u32, point: Point, writes: bool, view: &[u32]) -> Option<[Access; 2]> {
        let cell = &mut self.cells[cell as usize];
        let racing = cell.racing(point, writes, view);
        // Others may have come since, whom this one knows of; they are what counts then.
        let of_thread = |epoch: &&mut Epoch| epoch.thread == point.thread && epoch.index < point.index;
        let own = if writes {
            cell.write.as_mut().filter(of_thread)
        } else {
            cell.reads.iter_mut().find(of_thread)
        };
        if let Some(own) = own {
            own.index = point.index;
        }
        racing
    }
}

impl Cell {
    /// What an access races with.
    #[inline]
    fn racing(&self, point: Point, writes: bool, view: &[u32]) -> Option<[Access; 2]> {
        let unknown = |epoch: &Epoch| {
            epoch.thread != point.thread && !knows(view, EventId { thread: epoch.thread, index: epoch.index })
        };
        let (other, other_writes) = match &self.write {
            Some(write) if unknown(write) => Some((*write, true)),
            _ if writes => self.reads.iter().find(|read| unknown(read)).map(|read| (*read, false)),
            _ => None,
        }?;
        let at = Point { thread: other.thread, index: other.index, site: other.site };
        Some([
            Access { point: at, writes: other_writes, atomic: false },
            Access { point, writes, atomic: false },
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_races_with_a_read_it_does_not_know() {
        let mut cells = Cells::new();
        let cell = cells.add();
        let at = |thread, index| Point { thread: ThreadId(thread), index, site: Site(0) };
        assert!(cells.access(cell, at(1, 3), false, &[0; 8]).is_none());
        let mut view = [0; 8];
        view[1] = 4;
        assert!(cells.access(cell, at(2, 0), true, &view).is_none(), "knows event 3 of thread 1");
        view[1] = 3;
        view[2] = 0;
        assert!(cells.access(cell, at(3, 0), false, &view).is_some(), "does not know the write");
    }

    #[test]
    fn an_access_lasts_until_its_end() {
        let at = |thread, index| Point { thread: ThreadId(thread), index, site: Site(0) };
        let races = |end: Option<u32>| {
            let mut cells = Cells::new();
            let cell = cells.add();
            assert!(cells.access(cell, at(1, 3), true, &[0; 8]).is_none());
            if let Some(end) = end {
                assert!(cells.end_access(cell, at(1, end), true, &[0; 8]).is_none());
            }
            let mut view = [0; 8];
            view[1] = 5;
            cells.access(cell, at(2, 0), true, &view).is_some()
        };
        assert!(!races(None) && !races(Some(4)), "event 4 of thread 1 is known, and the access is before it");
        assert!(races(Some(5)), "event 5 is not known");
    }
}
