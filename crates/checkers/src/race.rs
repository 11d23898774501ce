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
    /// Who used it first.
    user: Option<ThreadId>,
}

/// The plain places of one execution.
#[derive(Debug, Default)]
pub struct Cells {
    cells: Vec<Cell>,
    used: usize,
    /// Whether two threads have used one of them.
    shared: bool,
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
            cell.user = None;
        }
        self.used = 0;
        self.shared = false;
    }

    /// Who has used a place first.
    pub fn user(&self, cell: u32) -> Option<ThreadId> {
        self.cells.get(cell as usize)?.user
    }

    /// Whether two threads have used one of the places.
    pub fn are_shared(&self) -> bool {
        self.shared
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

    /// The last write to a place.
    pub fn last_write(&self, cell: u32) -> Option<Point> {
        let write = self.cells.get(cell as usize)?.write.as_ref()?;
        Some(Point { thread: write.thread, index: write.index, site: write.site })
    }

    /// A thread uses a place, if only by a pointer.
    #[inline]
    pub fn used_by(&mut self, cell: u32, thread: ThreadId) {
        self.shared |= *self.cells[cell as usize].user.get_or_insert(thread) != thread;
    }

    /// An access by a thread that knows `view` and stands before its event at `point.index`: the
    /// access that it races with, if there is one.
    #[inline]
    pub fn access(&mut self, cell: u32, point: Point, writes: bool, view: &[u32]) -> Option<[Access; 2]> {
        self.used_by(cell, point.thread);
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
    use unpick_core::graph::Synchronisation;
    use unpick_core::op::Mode::{self, Acquire, Plain, Relaxed, Release};
    use unpick_core::op::{Op, Rmw};

    use super::*;

    const X: Addr = Addr(0);
    const FLAG: Addr = Addr(1);

    /// A graph with two threads besides the main one.
    fn two_threads() -> Graph {
        let mut graph = Graph::new(Synchronisation::AsWritten);
        graph.add_location(0);
        graph.add_location(0);
        for child in [1, 2] {
            graph.add_spawn(ThreadId::MAIN, ThreadId(child), Site(0));
        }
        graph
    }

    fn write(graph: &mut Graph, thread: u32, addr: Addr, mode: Mode) -> EventId {
        let write = graph.add(ThreadId(thread), &Op::store(addr, mode, 1, Site(7)));
        graph.insert_write(addr, graph.writes(addr).len(), write);
        write
    }

    fn read(graph: &mut Graph, thread: u32, addr: Addr, mode: Mode) -> EventId {
        let read = graph.add(ThreadId(thread), &Op::load(addr, mode, Site(8)));
        graph.read_from(read, graph.newest(addr), false);
        read
    }

    /// Adds an access of a thread.
    type Add = fn(&mut Graph, u32, Addr, Mode) -> EventId;

    /// Whether accesses of two threads race if nothing orders them.
    fn races(accesses: [Add; 2], modes: [Mode; 2]) -> bool {
        let mut graph = two_threads();
        for (thread, (access, mode)) in (1..).zip(accesses.into_iter().zip(modes)) {
            access(&mut graph, thread, X, mode);
        }
        in_graph(&graph).is_some()
    }

    #[test]
    fn unordered_accesses_race_if_one_writes_and_one_is_plain() {
        for (modes, racy) in [
            ([Plain, Plain], true),
            ([Plain, Relaxed], true),
            ([Relaxed, Plain], true),
            ([Relaxed, Relaxed], false),
        ] {
            assert_eq!(races([write, write], modes), racy, "writes: {modes:?}");
            assert_eq!(races([write, read], modes), racy, "a write and a read: {modes:?}");
            assert_eq!(races([read, write], modes), racy, "a read and a write: {modes:?}");
            assert!(!races([read, read], modes), "reads: {modes:?}");
        }
    }

    #[test]
    fn an_update_counts_as_a_write() {
        let update = |graph: &mut Graph, thread, addr, mode| {
            let op = Op::rmw(addr, Rmw::Add, mode, 1, Site(0));
            let update = graph.add(ThreadId(thread), &op);
            graph.read_from(update, graph.newest(addr), false);
            update
        };
        assert!(races([update, read], [Relaxed, Plain]));
        assert!(races([read, update], [Plain, Relaxed]));
    }

    #[test]
    fn accesses_to_different_places_do_not_race() {
        let mut graph = two_threads();
        write(&mut graph, 1, X, Plain);
        write(&mut graph, 2, FLAG, Plain);
        assert_eq!(in_graph(&graph), None);
    }

    #[test]
    fn accesses_of_one_thread_do_not_race() {
        let mut graph = two_threads();
        write(&mut graph, 1, X, Plain);
        write(&mut graph, 1, X, Plain);
        assert_eq!(in_graph(&graph), None);
    }

    #[test]
    fn synchronisation_orders_accesses() {
        for (write_mode, read_mode, racy) in
            [(Release, Acquire, false), (Relaxed, Acquire, true), (Release, Relaxed, true)]
        {
            let mut graph = two_threads();
            write(&mut graph, 1, X, Plain);
            write(&mut graph, 1, FLAG, write_mode);
            read(&mut graph, 2, FLAG, read_mode);
            read(&mut graph, 2, X, Plain);
            assert_eq!(in_graph(&graph).is_some(), racy, "{write_mode:?} and {read_mode:?}");
        }
    }

    /// The write of thread 2 is the first of the location's list, and happens after the other.
    #[test]
    fn order_does_not_depend_on_the_place_in_the_graph() {
        let mut graph = two_threads();
        write(&mut graph, 1, X, Plain);
        write(&mut graph, 1, FLAG, Release);
        read(&mut graph, 2, FLAG, Acquire);
        let last = graph.add(ThreadId(2), &Op::store(X, Plain, 2, Site(0)));
        graph.insert_write(X, 0, last);
        assert_eq!(in_graph(&graph), None);
    }

    #[test]
    fn a_join_orders_what_the_thread_did() {
        let mut graph = two_threads();
        write(&mut graph, 1, X, Plain);
        graph.add_finish(ThreadId(1));
        graph.add_join(ThreadId::MAIN, ThreadId(1), Site(0));
        read(&mut graph, 0, X, Plain);
        assert_eq!(in_graph(&graph), None);
        read(&mut graph, 2, X, Plain);
        assert!(in_graph(&graph).is_some(), "thread 2 has not joined");
    }

    #[test]
    fn a_race_names_both_accesses() {
        let mut graph = two_threads();
        let atomic = write(&mut graph, 1, X, Relaxed);
        let plain = read(&mut graph, 2, X, Plain);
        let found = in_graph(&graph).expect("they race");
        let Kind::Race { accesses, .. } = &found.kind else { panic!("{found:?}") };
        let point = |id: EventId, site| Point { thread: id.thread, index: id.index, site: Site(site) };
        let first = Access { point: point(atomic, 7), writes: true, atomic: true };
        let second = Access { point: point(plain, 8), writes: false, atomic: false };
        assert_eq!((accesses, found.point), (&[first, second], second.point));
    }

    /// Before event `index` of a thread.
    fn at(thread: u32, index: u32) -> Point {
        Point { thread: ThreadId(thread), index, site: Site(0) }
    }

    /// Who knows so many events of thread 1.
    fn knowing(count: u32) -> [u32; 8] {
        let mut view = [0; 8];
        view[1] = count;
        view
    }

    #[test]
    fn accesses_of_one_thread_to_a_cell_do_not_race() {
        let mut cells = Cells::new();
        let cell = cells.add();
        for (index, writes) in [(0, true), (0, false), (3, true)] {
            assert!(cells.access(cell, at(1, index), writes, &[0; 8]).is_none());
        }
    }

    #[test]
    fn only_a_write_races_with_a_read() {
        let mut cells = Cells::new();
        let cell = cells.add();
        assert!(cells.access(cell, at(1, 0), false, &[0; 8]).is_none());
        assert!(cells.access(cell, at(2, 0), false, &[0; 8]).is_none());
        let racing = cells.access(cell, at(3, 0), true, &knowing(1)).expect("thread 2 is not known");
        assert_eq!(racing.map(|access| (access.point, access.writes)), [(at(2, 0), false), (at(3, 0), true)]);
    }

    #[test]
    fn the_last_read_of_a_thread_is_what_counts() {
        let mut cells = Cells::new();
        let cell = cells.add();
        for index in [0, 4] {
            assert!(cells.access(cell, at(1, index), false, &[0; 8]).is_none());
        }
        assert!(cells.access(cell, at(2, 0), true, &knowing(4)).is_some(), "the first read is known");
    }

    #[test]
    fn what_is_not_known_stands_against_freeing() {
        let mut cells = Cells::new();
        let cell = cells.add();
        assert!(cells.access(cell, at(1, 2), true, &[0; 8]).is_none());
        let found = cells.unknown(cell, ThreadId(2), &knowing(2), |_| false).expect("the write is not known");
        assert_eq!((found.point, found.writes), (at(1, 2), true));
        assert!(cells.unknown(cell, ThreadId(2), &knowing(3), |_| false).is_none());
        assert!(cells.unknown(cell, ThreadId(1), &[0; 8], |_| false).is_none(), "it is the thread's own");
        assert!(cells.unknown(cell + 1, ThreadId(2), &[0; 8], |_| false).is_none(), "there is no such cell");
    }

    #[test]
    fn the_next_execution_begins_with_no_accesses() {
        let mut cells = Cells::new();
        let cell = cells.add();
        assert!(cells.access(cell, at(1, 0), true, &[0; 8]).is_none());
        assert!(cells.access(cell, at(1, 0), false, &[0; 8]).is_none());
        cells.clear();
        assert_eq!(cells.add(), cell);
        assert!(cells.access(cell, at(2, 0), true, &[0; 8]).is_none());
    }

    #[test]
    fn a_write_races_with_a_read_it_does_not_know() {
        let mut cells = Cells::new();
        let cell = cells.add();
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
