//! What must hold of every graph, looked at from scratch. It takes long, and is for tests: builds with the feature `audit`.
//!
//! - Each event is in its thread, in the order of insertion and, if it is an access, in the lists of its location, once
//!   and at the place that it says; nothing else is there.
//! - What an event refers to is in the graph: the write that a read sees, the spawn of its thread, the end of a thread that is
//!   joined. `po ∪ rf` has no cycle, with spawns and joins.
//! - Coherence: of two accesses of a location that are ordered by `hb`, the later one does not see or write something older.
//! - Atomicity: an update stands right after the write that it reads, and has made its value out of that one's.
//! - Clocks are what the rules of C++20 make them, computed anew.
//! - What is fixed is in the graph.
//!
//! Where older events were let go, their clocks cannot be computed anew, and what refers to them is not followed.

use super::Graph;
use crate::clock::{Clock, Part, join, knows};
use crate::event::{Event, EventId};
use crate::op::{Addr, Kind, Mode, Rmw, ThreadId};

/// Nothing, or what is wrong.
type Found = Result<(), String>;

fn expect(holds: bool, wrong: impl FnOnce() -> String) -> Found {
    if holds { Ok(()) } else { Err(wrong()) }
}

impl Graph {
    /// What is wrong with the graph, if something is.
    pub fn flaw(&self) -> Option<String> {
        self.structure_flaw().or_else(|| self.order_flaw())
    }

    /// The same of a graph that a search has left for a revisit: its clocks are lent to another, and two updates may read the same
    /// write.
    pub fn structure_flaw(&self) -> Option<String> {
        let threads = || self.all_threads().try_for_each(|thread| self.check_thread(thread));
        let locations = || self.all_addrs().try_for_each(|addr| self.check_location(addr));
        let accesses = || self.all_events().try_for_each(|(id, event)| self.check_references(id, event));
        self.check_order().and_then(|()| threads()).and_then(|()| locations()).and_then(|()| accesses()).err()
    }

    fn order_flaw(&self) -> Option<String> {
        let coherence = || self.all_addrs().try_for_each(|addr| self.check_coherence(addr));
        let clocks = || if self.is_compacted() { Ok(()) } else { self.check_clocks() };
        let reads = || self.all_events().filter(|(id, event)| event.is_read() && !self.is_past(*id));
        let updates = || reads().try_for_each(|(id, event)| self.check_update(id, event));
        updates().and_then(|()| clocks()).and_then(|()| coherence()).and_then(|()| self.check_fixed()).err()
    }

    fn all_threads(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.threads.len()).map(|t| ThreadId(t as u32))
    }

    fn all_addrs(&self) -> impl Iterator<Item = Addr> + use<> {
        (0..self.used).map(|index| Addr(index as u32))
    }

    /// The events that are there, by threads.
    fn all_events(&self) -> impl Iterator<Item = (EventId, &Event)> {
        let threads = self.threads.iter().enumerate();
        threads.flat_map(|(t, thread)| {
            let id = move |index| EventId { thread: ThreadId(t as u32), index };
            thread.events.iter().zip(thread.base..).map(move |(event, index)| (id(index), event))
        })
    }

    /// Whether the event is in the graph, or was before it was let go.
    fn has(&self, id: EventId) -> bool {
        (id.index as usize) < self.thread_len(id.thread)
    }

    // ---------------------------------------------------------------- structure

    fn check_order(&self) -> Found {
        let events: usize = self.threads.iter().map(|thread| thread.events.len()).sum();
        expect(self.order.len() == events, || {
            format!("{} events are in the order of insertion, of {events}", self.order.len())
        })?;
        for (stamp, &id) in self.order.iter().enumerate() {
            let event = self.kept_event(id).ok_or_else(|| format!("{id:?} was inserted and is not there"))?;
            expect(event.stamp as usize == stamp, || {
                format!("{id:?} was inserted as number {stamp} and says {}", event.stamp)
            })?;
        }
        let plain = self.all_events().any(|(_, event)| is_access(event) && event.mode == Mode::Plain);
        expect(self.plain || !plain, || String::from("plain accesses are not known of"))
    }

    fn check_thread(&self, id: ThreadId) -> Found {
        let thread = &self.threads[id.index()];
        let spawns = |spawn: EventId| self.is_about(spawn, Kind::Spawn, id);
        expect(thread.spawn.is_none_or(spawns), || format!("{id} is not spawned by {:?}", thread.spawn))?;
        let joins = |join: EventId| self.is_about(join, Kind::Join, id) && self.is_finished(id);
        let joined = self.joins_of(id).all(joins);
        expect(joined, || format!("{id} is not joined by {:?}", self.joins_of(id).collect::<Vec<_>>()))?;
        expect(thread.events.is_empty() || self.exists(id), || format!("{id} has events and no spawn"))?;
        let end = thread.events.iter().rev().skip(1).any(|event| event.kind == Kind::Finish);
        expect(!end, || format!("{id} goes on after its end"))?;
        if self.is_compacted() {
            return Ok(());
        }
        let positions = |is: fn(&Event) -> bool| {
            let found = thread.events.iter().zip(0u32..).filter(move |(event, _)| is(event));
            found.map(|(_, index)| index)
        };
        let seqcst = positions(|event| event.mode == Mode::SeqCst || event.failure == Mode::SeqCst);
        expect(seqcst.eq(thread.seqcst.iter().copied()), || {
            format!("{id} does not have its SeqCst events at {:?}", thread.seqcst)
        })?;
        let fences = positions(|event| event.kind == Kind::Fence && event.mode.releases());
        expect(fences.eq(thread.release_fences.iter().copied()), || {
            format!("{id} does not have its release fences at {:?}", thread.release_fences)
        })?;
        let all: usize = self.threads.iter().map(|thread| thread.seqcst.len()).sum();
        expect(self.seqcst as usize == all, || format!("{} SeqCst events are counted, of {all}", self.seqcst))
    }

    /// Whether an event, if it is still there, is a spawn or join of a thread.
    fn is_about(&self, id: EventId, kind: Kind, thread: ThreadId) -> bool {
        let is = |event: &Event| event.kind == kind && event.value == u64::from(thread.0);
        self.has(id) && self.kept_event(id).is_none_or(is)
    }

    fn check_location(&self, addr: Addr) -> Found {
        let location = &self.locations[addr.index()];
        let newer = location.writes.iter().skip(location.bottom as usize);
        for (name, list, is) in [
            ("writes", newer.copied().collect::<Vec<_>>(), Event::is_write as fn(&Event) -> bool),
            ("reads", location.reads.clone(), Event::is_read),
        ] {
            let fits = |event: &Event| event.addr == addr && is(event);
            for id in &list {
                let known = self.kept_event(*id).is_some_and(fits);
                expect(known, || format!("{id:?} is among the {name} of {addr:?} and is none"))?;
            }
            let new = |id: EventId| !self.is_past(id);
            let wanted = self.all_events().filter(|&(id, event)| new(id) && fits(event));
            let mut wanted: Vec<EventId> = wanted.map(|(id, _)| id).collect();
            let mut found = list.clone();
            wanted.sort_unstable();
            found.sort_unstable();
            expect(found == wanted, || format!("the {name} of {addr:?} are {wanted:?} and not {found:?}"))?;
        }
        let stamps = location.reads.iter().map(|&read| self.event(read).stamp);
        expect(stamps.is_sorted(), || format!("the reads of {addr:?} are not in the order of insertion"))
    }

    fn check_references(&self, id: EventId, event: &Event) -> Found {
        match event.kind {
            Kind::Spawn => {
                let spawned = self.spawn_of(ThreadId(event.value as u32));
                expect(spawned == Some(id), || format!("what {id:?} spawns was spawned by {spawned:?}"))
            }
            Kind::Join => {
                let joins: Vec<_> = self.joins_of(ThreadId(event.value as u32)).collect();
                let known = joins.iter().filter(|&&join| join == id).count() == 1;
                expect(known, || format!("what {id:?} joins was joined by {joins:?}"))
            }
            Kind::Read if !self.is_past(id) => self.check_read(id, event),
            _ => Ok(()),
        }
    }

    fn check_read(&self, id: EventId, event: &Event) -> Found {
        let (addr, source) = (event.addr, event.rf);
        let is_source = |write: &Event| write.is_write() && write.addr == addr;
        let there = self.is_past(source) || self.kept_event(source).is_some_and(is_source);
        expect(there, || format!("{id:?} sees {source:?}, which is no write of {addr:?}"))
    }

    // ---------------------------------------------------------------- order

    /// A read-modify-write has made of the value that it sees what it should, and stands right after it if it writes.
    fn check_update(&self, id: EventId, event: &Event) -> Found {
        let (addr, source) = (event.addr, event.rf);
        if event.rmw == Rmw::None {
            return expect(!event.is_update(), || format!("{id:?} is a load and writes"));
        }
        let old = self.value(addr, source);
        let written = if event.has(Event::SPURIOUS) { None } else { event.apply(old) };
        expect(event.is_update() == written.is_some(), || {
            format!("{id:?} sees {old} and writes {written:?}, or says that it does not")
        })?;
        // Addresses may have been brought up to date in the write only.
        let same = written.is_none_or(|written| written == event.value) || event.has(Event::POINTER);
        expect(same, || format!("{id:?} has written {} and not {written:?}", event.value))?;
        if !event.is_update() {
            return Ok(());
        }
        expect(!event.rmw.waits_on(old), || format!("{id:?} has taken what was taken"))?;
        let (place, before) = (self.position(addr, id), self.position(addr, source));
        expect(place == before + 1, || format!("{id:?} is at {place} and reads what is at {before}"))
    }

    /// Computes all clocks anew, each event after those that it depends on, and compares.
    fn check_clocks(&self) -> Found {
        let mut known = vec![0; self.threads.len()];
        let mut left = self.order.len();
        let mut computed: Vec<Vec<[Vec<u32>; 3]>> = vec![Vec::new(); self.threads.len()];
        while left > 0 {
            let before = left;
            for thread in self.all_threads() {
                while let Some(event) = self.thread(thread).get(known[thread.index()]) {
                    let id = EventId::new(thread, known[thread.index()]);
                    let is_known = |cause: &EventId| (cause.index as usize) < known[cause.thread.index()];
                    let ready = self.causes(id, event).iter().all(is_known);
                    if !ready {
                        break;
                    }
                    let clocks = self.computed(id, event, &computed);
                    self.compare(id, event, &clocks)?;
                    computed[thread.index()].push(clocks);
                    known[thread.index()] += 1;
                    left -= 1;
                }
            }
            expect(left < before, || format!("po ∪ rf has a cycle: {known:?} events come before it"))?;
        }
        Ok(())
    }

    /// What an event depends on besides the one before it in its thread.
    fn causes(&self, id: EventId, event: &Event) -> Vec<EventId> {
        let mut causes = Vec::new();
        if id.index == 0 {
            causes.extend(self.spawn_of(id.thread));
        }
        match event.kind {
            Kind::Read if !event.rf.is_init() => causes.push(event.rf),
            Kind::Join => causes.extend(self.last(ThreadId(event.value as u32))),
            Kind::Choice if event.is_timeout() => {
                causes.extend_from_slice(&self.order[..event.stamp as usize]);
            }
            _ => {}
        }
        causes
    }

    fn last(&self, thread: ThreadId) -> Option<EventId> {
        self.thread_len(thread).checked_sub(1).map(|last| EventId::new(thread, last))
    }

    /// The clocks of an event out of those of the events that it depends on.
    fn computed(&self, id: EventId, event: &Event, computed: &[Vec<[Vec<u32>; 3]>]) -> [Vec<u32>; 3] {
        let of = |id: EventId, part: Part| &computed[id.thread.index()][id.index as usize][part as usize];
        let none = || vec![0; self.width()];
        let (mut hb, mut porf, mut published) = (none(), none(), none());
        let previous = match id.index.checked_sub(1) {
            Some(index) => Some(EventId { index, ..id }),
            None => self.spawn_of(id.thread),
        };
        if let Some(previous) = previous {
            join(&mut hb, of(previous, Part::Hb));
            join(&mut porf, of(previous, Part::Porf));
            let seen = self.event(previous);
            if seen.is_read() && !seen.rf.is_init() {
                join(&mut porf, of(seen.rf, Part::Porf));
                if seen.has(Event::ACQUIRES) {
                    join(&mut hb, of(seen.rf, Part::Published));
                }
            }
        }
        hb[id.thread.index()] = id.index + 1;
        porf[id.thread.index()] = id.index + 1;
        let mut earlier = Vec::new();
        if event.kind == Kind::Join {
            earlier.extend(self.last(ThreadId(event.value as u32)));
        } else if event.is_timeout() {
            earlier.extend_from_slice(&self.order[..event.stamp as usize]);
        } else if event.kind == Kind::Fence && event.mode.acquires() {
            for read in self.thread(id.thread)[..id.index as usize].iter().filter(|event| event.is_read()) {
                if read.mode.is_atomic() && !read.rf.is_init() {
                    join(&mut hb, of(read.rf, Part::Published));
                }
            }
        }
        for other in earlier {
            join(&mut hb, of(other, Part::Hb));
            join(&mut porf, of(other, Part::Porf));
        }
        if event.is_write() {
            let mut earlier = self.thread(id.thread)[..id.index as usize].iter();
            let releases = |event: &Event| event.kind == Kind::Fence && event.mode.releases();
            let fence = earlier.rposition(releases).filter(|_| event.mode.is_atomic());
            if event.has(Event::RELEASES) {
                join(&mut published, &hb);
            } else if let Some(index) = fence {
                join(&mut published, of(EventId::new(id.thread, index), Part::Hb));
            }
            if event.is_update() && !event.rf.is_init() {
                join(&mut published, of(event.rf, Part::Published));
                join(&mut porf, of(event.rf, Part::Porf));
            }
        }
        [hb, porf, published]
    }

    fn compare(&self, id: EventId, event: &Event, computed: &[Vec<u32>; 3]) -> Found {
        let same = |part: Part| self.clocks.get(event.clock, part) == computed[part as usize];
        for (part, counts) in
            [(Part::Hb, true), (Part::Porf, self.keeps_porf), (Part::Published, event.is_write())]
        {
            expect(!counts || same(part), || {
                let found = self.clocks.get(event.clock, part);
                format!("{part:?} of {id:?} is {found:?} and not {:?}", computed[part as usize])
            })?;
        }
        Ok(())
    }

    fn check_coherence(&self, addr: Addr) -> Found {
        let location = &self.locations[addr.index()];
        let writes = location.writes.iter().skip(location.bottom as usize).copied();
        let pure = writes.filter(|&write| !self.event(write).is_update());
        let accesses: Vec<EventId> = pure.chain(location.reads.iter().copied()).collect();
        let mut clock = Vec::new();
        for &later in &accesses {
            self.hb_into(later, &mut clock);
            let event = self.event(later);
            // What it sees, or what it stands behind.
            let seen =
                if event.is_read() { self.position(addr, event.rf) } else { self.position(addr, later) - 1 };
            let known = accesses.iter().filter(|&&earlier| earlier != later && knows(&clock, earlier));
            for &earlier in known {
                let place = self.place_of(earlier);
                expect(place <= seen, || {
                    format!(
                        "{later:?} stands behind {seen} writes of {addr:?}, and {earlier:?} behind {place}"
                    )
                })?;
            }
        }
        Ok(())
    }

    /// The place of the newest write of its location that an access sees or is.
    fn place_of(&self, id: EventId) -> usize {
        let event = self.event(id);
        self.position(event.addr, if event.is_write() { id } else { event.rf })
    }

    fn check_fixed(&self) -> Found {
        let fixed = self.fixed.iter().zip(self.thread_lens().chain(std::iter::repeat(0)));
        let there = fixed.into_iter().all(|(fixed, len)| *fixed <= len);
        expect(there, || format!("what is fixed is not there: {:?}", &self.fixed as &Clock))
    }
}

fn is_access(event: &Event) -> bool {
    matches!(event.kind, Kind::Read | Kind::Write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Synchronisation;
    use crate::op::{Op, Site};

    const X: Addr = Addr(0);
    const Y: Addr = Addr(1);

    fn id(thread: u32, index: usize) -> EventId {
        EventId::new(ThreadId(thread), index)
    }

    /// Message passing with an update in the middle: thread 1 writes `X` and releases `Y`, thread 2 adds to `Y`, thread 3
    /// acquires `Y` and reads `X`. Thread 1 ends and is joined.
    fn sound() -> Graph {
        let mut graph = Graph::new(Synchronisation::AsWritten);
        graph.add_location(0);
        graph.add_location(0);
        for child in 1..=3 {
            graph.add_spawn(ThreadId::MAIN, ThreadId(child), Site(0));
        }
        for (addr, mode) in [(X, Mode::Relaxed), (Y, Mode::Release)] {
            let write = graph.add(ThreadId(1), &Op::store(addr, mode, 1, Site(0)));
            graph.insert_write(addr, 0, write);
        }
        let update = graph.add(ThreadId(2), &Op::rmw(Y, Rmw::Add, Mode::Relaxed, 1, Site(0)));
        graph.read_from(update, id(1, 1), false);
        let read = graph.add(ThreadId(3), &Op::load(Y, Mode::Acquire, Site(0)));
        graph.read_from(read, update, false);
        let read = graph.add(ThreadId(3), &Op::load(X, Mode::Relaxed, Site(0)));
        graph.read_from(read, id(1, 0), false);
        graph.add_finish(ThreadId(1));
        graph.add_join(ThreadId::MAIN, ThreadId(1), Site(0));
        graph.add(ThreadId::MAIN, &Op::time_is_over(Site(0)));
        graph
    }

    /// Expects that a sound graph has a flaw after `damage`, which says this.
    fn expect_flaw(said: &str, damage: impl FnOnce(&mut Graph)) {
        let mut graph = sound();
        assert_eq!(graph.flaw(), None, "before it is damaged");
        damage(&mut graph);
        let flaw = graph.flaw();
        assert!(flaw.as_ref().is_some_and(|flaw| flaw.contains(said)), "{flaw:?} does not say: {said}");
    }

    #[test]
    fn an_event_that_was_not_inserted_is_found() {
        expect_flaw("order of insertion", |graph| graph.order.truncate(10));
        expect_flaw("was inserted as number", |graph| graph.order.swap(3, 4));
    }

    #[test]
    fn a_thread_that_nobody_spawns_is_found() {
        expect_flaw("no spawn", |graph| graph.threads[1].spawn = None);
        expect_flaw("not spawned by", |graph| graph.threads[1].spawn = Some(id(2, 0)));
        expect_flaw("not joined by", |graph| graph.joins.push((ThreadId(2), id(0, 3))));
    }

    #[test]
    fn a_thread_that_goes_on_after_its_end_is_found() {
        expect_flaw("goes on after its end", |graph| graph.event_mut(id(1, 0)).kind = Kind::Finish);
    }

    #[test]
    fn an_access_that_its_location_does_not_know_is_found() {
        expect_flaw("the writes of", |graph| graph.locations[0].writes.clear());
        expect_flaw("the reads of", |graph| graph.locations[1].reads.truncate(1));
        expect_flaw("is among the writes", |graph| graph.locations[0].writes.push(id(3, 1)));
        expect_flaw("the writes of", |graph| graph.locations[0].writes.push(id(1, 0)));
        expect_flaw("not in the order of insertion", |graph| graph.locations[1].reads.swap(0, 1));
    }

    #[test]
    fn a_read_of_what_is_not_there_is_found() {
        expect_flaw("which is no write", |graph| graph.event_mut(id(3, 1)).rf = id(1, 9));
        expect_flaw("which is no write", |graph| graph.event_mut(id(3, 1)).rf = id(1, 1));
        expect_flaw("which is no write", |graph| graph.event_mut(id(3, 1)).rf = id(3, 0));
    }

    #[test]
    fn an_update_of_something_else_is_found() {
        expect_flaw("has written 9", |graph| graph.event_mut(id(2, 0)).value = 9);
        expect_flaw("reads what is at", |graph| graph.locations[1].writes.swap(0, 1));
    }

    #[test]
    fn a_read_that_is_too_old_is_found() {
        // Thread 3 knows of the write to `X`.
        expect_flaw("stands behind 0 writes", |graph| graph.event_mut(id(3, 1)).rf = EventId::INIT);
    }

    #[test]
    fn a_clock_that_is_wrong_is_found() {
        for part in [Part::Hb, Part::Porf, Part::Published] {
            expect_flaw(&format!("{part:?} of"), |graph| {
                let clock = graph.event(id(2, 0)).clock;
                graph.clocks.get_mut(clock, part)[0] += 1;
            });
        }
    }

    #[test]
    fn a_cycle_of_dependencies_is_found() {
        let mut graph = sound();
        graph.event_mut(id(2, 0)).rf = id(2, 0);
        let found = graph.check_clocks();
        assert!(found.is_err_and(|flaw| flaw.contains("cycle")));
    }

    #[test]
    fn what_is_fixed_must_be_there() {
        expect_flaw("what is fixed", |graph| {
            graph.fixed.resize(8, 0);
            graph.fixed[2] = 5;
        });
    }

    #[test]
    fn counts_of_seqcst_events_and_fences_are_compared() {
        expect_flaw("SeqCst events", |graph| graph.seqcst += 1);
        expect_flaw("SeqCst events at", |graph| graph.event_mut(id(1, 1)).mode = Mode::SeqCst);
        expect_flaw("release fences at", |graph| graph.threads[1].release_fences.push(0));
        expect_flaw("plain accesses", |graph| graph.event_mut(id(1, 0)).mode = Mode::Plain);
    }

    #[test]
    fn a_graph_is_sound_after_it_was_cut_and_restricted_and_compacted() {
        let mut graph = sound();
        graph.cut(7);
        assert_eq!(graph.flaw(), None);
        let mut part = Graph::new(Synchronisation::AsWritten);
        graph.restrict_into(&[3, 2, 1, 0], 3, &mut part);
        assert_eq!((part.flaw(), part.len()), (None, 6));
        assert_eq!(graph.structure_flaw(), None, "what has lent its clocks");
        part.compact();
        assert_eq!(part.flaw(), None);
    }
}
