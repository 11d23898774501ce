//! For tests: graphs that are made by hand, event by event, and judged as a search judges them.
//!
//! A draft is consistent when each event, as it is added, keeps the rules that hold by construction (a read sees a write
//! from the floor on, a write goes after it, an update stays next to the write it reads), and the model accepts the
//! graph with it. Models are closed under prefixes, so that is so just when the whole graph is consistent.

use unpick_core::event::EventId;
use unpick_core::graph::Graph;
use unpick_core::memory::MemoryModel;
use unpick_core::op::{Addr, Mode, Op, Rmw, Site, ThreadId};

/// Locations of every draft.
pub(crate) const X: Addr = Addr(0);
pub(crate) const Y: Addr = Addr(1);

/// The initial write.
pub(crate) const INIT: EventId = EventId::INIT;

const SITE: Site = Site(1);

/// A graph that grows, and whether it is consistent so far.
pub(crate) struct Draft {
    pub(crate) graph: Graph,
    model: Box<dyn MemoryModel>,
    consistent: bool,
    values: u64,
}

impl Draft {
    fn new(model: &str) -> Draft {
        let model = crate::by_name(model).expect("a model's name");
        let mut graph = Graph::new(model.synchronisation());
        graph.add_location(0);
        graph.add_location(0);
        Draft { graph, model, consistent: true, values: 0 }
    }

    /// The main thread spawns threads 1 to `count`.
    pub(crate) fn spawn(&mut self, count: u32) {
        (1..=count).for_each(|child| self.spawn_one(child));
    }

    /// The main thread spawns a thread.
    pub(crate) fn spawn_one(&mut self, child: u32) {
        self.graph.add_spawn(ThreadId::MAIN, ThreadId(child), SITE);
    }

    /// A write that goes last, with a value of its own.
    pub(crate) fn write(&mut self, thread: u32, addr: Addr, mode: Mode) -> EventId {
        let last = self.graph.writes(addr).len();
        self.write_at(thread, addr, mode, last)
    }

    /// A write that goes after so many others.
    pub(crate) fn write_at(&mut self, thread: u32, addr: Addr, mode: Mode, place: usize) -> EventId {
        self.values += 1;
        let write = self.graph.add(ThreadId(thread), &Op::store(addr, mode, self.values, SITE));
        let fits = place >= self.graph.floor_of_new(addr, write) && !self.graph.splits(addr, place);
        self.graph.insert_write(addr, place, write);
        self.judge(write, fits);
        write
    }

    /// A read that sees `source`.
    pub(crate) fn read(&mut self, thread: u32, addr: Addr, mode: Mode, source: EventId) -> EventId {
        self.add_read(ThreadId(thread), &Op::load(addr, mode, SITE), source)
    }

    /// An update that sees `source`.
    pub(crate) fn update(&mut self, thread: u32, addr: Addr, mode: Mode, source: EventId) -> EventId {
        self.values += 1;
        self.add_read(ThreadId(thread), &Op::rmw(addr, Rmw::Swap, mode, self.values, SITE), source)
    }

    fn add_read(&mut self, thread: ThreadId, op: &Op, source: EventId) -> EventId {
        let read = self.graph.add(thread, op);
        let updates = op.rmw != Rmw::None;
        let fits = self.graph.position(op.addr, source) >= self.graph.floor_of_new(op.addr, read)
            && !(updates && self.graph.rival(op.addr, source, read).is_some());
        self.graph.read_from(read, source, false);
        self.judge(read, fits);
        read
    }

    pub(crate) fn fence(&mut self, thread: u32, mode: Mode) {
        self.graph.add(ThreadId(thread), &Op::fence(mode, SITE));
    }

    pub(crate) fn finish(&mut self, thread: u32) {
        self.graph.add_finish(ThreadId(thread));
    }

    pub(crate) fn join(&mut self, thread: u32, child: u32) {
        self.graph.add_join(ThreadId(thread), ThreadId(child), SITE);
    }

    fn judge(&mut self, event: EventId, fits: bool) {
        self.consistent &= fits && self.model.consistent(&self.graph, &[event]);
    }
}

/// Whether a model accepts what `make` drafts.
pub(crate) fn allows(model: &str, make: impl FnOnce(&mut Draft)) -> bool {
    let mut draft = Draft::new(model);
    make(&mut draft);
    draft.consistent
}

/// The models that accept what `make` drafts, in the order of [`crate::NAMES`].
pub(crate) fn allowed_by(make: impl Fn(&mut Draft)) -> Vec<&'static str> {
    crate::NAMES.into_iter().filter(|model| allows(model, &make)).collect()
}

/// Store buffering: each thread writes its location and misses what the other has written; `between` adds what stands
/// between the write and the read of a thread.
pub(crate) fn store_buffering(mode: Mode, between: impl Fn(&mut Draft, u32)) -> impl Fn(&mut Draft) {
    move |draft| {
        draft.spawn(2);
        for (thread, own, other) in [(1, X, Y), (2, Y, X)] {
            draft.write(thread, own, mode);
            between(draft, thread);
            draft.read(thread, other, mode, INIT);
        }
    }
}

/// Message passing: the reader sees the flag `Y` and misses the message `X`.
pub(crate) fn message_passing(write: Mode, read: Mode) -> impl Fn(&mut Draft) {
    move |draft| {
        draft.spawn(2);
        draft.write(1, X, Mode::Relaxed);
        let flag = draft.write(1, Y, write);
        draft.read(2, Y, read, flag);
        draft.read(2, X, Mode::Relaxed, INIT);
    }
}

/// Two readers that see two independent writes in opposite orders.
pub(crate) fn opposite_orders(write: Mode, read: Mode) -> impl Fn(&mut Draft) {
    move |draft| {
        draft.spawn(4);
        let writes = [draft.write(1, X, write), draft.write(2, Y, write)];
        draft.read(3, X, read, writes[0]);
        draft.read(3, Y, read, INIT);
        draft.read(4, Y, read, writes[1]);
        draft.read(4, X, read, INIT);
    }
}

/// Two threads write both locations in opposite orders, and the first write of each is the last of its location.
pub(crate) fn first_writes_last(mode: Mode) -> impl Fn(&mut Draft) {
    move |draft| {
        draft.spawn(2);
        draft.write(1, X, mode);
        draft.write(1, Y, mode);
        draft.write(2, Y, mode);
        draft.write_at(2, X, mode, 0);
    }
}
