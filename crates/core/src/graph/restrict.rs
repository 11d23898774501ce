//! Keeping a part of a graph: cutting it back, and copying what a backward revisit keeps.

use super::{Graph, Location, Thread};
use crate::event::EventId;
use crate::op::{Kind, ThreadId};

impl Graph {
    /// Cuts the graph back to its first `len` events.
    #[inline(never)]
    pub fn cut(&mut self, len: usize) {
        debug_assert!(len <= self.order.len(), "a graph is cut to more than it has");
        while self.order.len() > len {
            let Some(id) = self.order.pop() else { return };
            let thread = &mut self.threads[id.thread.index()];
            let Some(event) = thread.events.pop() else { return };
            debug_assert_eq!(thread.events.len(), id.index as usize);
            if thread.seqcst.last() == Some(&id.index) {
                thread.seqcst.pop();
                self.seqcst -= 1;
            }
            match event.kind {
                Kind::Read => {
                    let popped = self.locations[event.addr.index()].reads.pop();
                    debug_assert_eq!(popped, Some(id));
                    if event.is_update() {
                        self.remove_write(event.addr, id);
                    }
                }
                Kind::Write => {
                    self.remove_write(event.addr, id);
                }
                Kind::Fence => {
                    if thread.release_fences.last() == Some(&id.index) {
                        thread.release_fences.pop();
                    }
                }
                Kind::Spawn => self.threads[event.value as usize].spawn = None,
                Kind::Join => {
                    let popped = self.joins.pop();
                    debug_assert_eq!(popped, Some((ThreadId(event.value as u32), id)));
                }
                Kind::Finish | Kind::Choice => {}
            }
            let top = self.clocks.top().min(event.clock);
            self.clocks.truncate(top);
        }
    }

    /// Makes `target` a copy of this graph with only the first `lens[t]` events of each thread,
    /// and hands it the clocks. The kept events must be closed under `porf`, and the `older` oldest
    /// must be among them. Buffers of `target` are used again.
    pub fn restrict_into(&mut self, lens: &[u32], older: usize, target: &mut Graph) {
        let kept = |id: EventId| lens.get(id.thread.index()).is_some_and(|&len| id.index < len);
        debug_assert!(!self.is_compacted(), "a graph is copied that has let events go");
        debug_assert!(self.order[..older].iter().all(|&id| kept(id)), "an older event is dropped");
        target.synchronisation = self.synchronisation;
        target.plain = self.plain;
        target.seqcst = 0;
        target.fixed.clear();
        target.fixed.extend_from_slice(&self.fixed);
        target.threads.resize_with(self.threads.len(), Thread::default);
        for (t, (old, new)) in self.threads.iter().zip(&mut target.threads).enumerate() {
            let len = lens.get(t).copied().unwrap_or(0);
            empty_as_large(&mut new.events, &old.events);
            new.events.extend_from_slice(&old.events[..len as usize]);
            new.spawn = old.spawn.filter(|&spawn| kept(spawn));
            copy_below(&old.release_fences, len, &mut new.release_fences);
            copy_below(&old.seqcst, len, &mut new.seqcst);
            target.seqcst += new.seqcst.len() as u32;
        }
        empty_as_large(&mut target.joins, &self.joins);
        target.joins.extend(self.joins.iter().copied().filter(|&(_, join)| kept(join)));
        empty_as_large(&mut target.order, &self.order);
        let (oldest, younger) = self.order.split_at(older);
        target.order.extend_from_slice(oldest);
        for &id in younger {
            if kept(id) {
                target.threads[id.thread.index()].events[id.index as usize].stamp = target.order.len() as u32;
                target.order.push(id);
            }
        }
        if target.locations.len() < self.locations.len() {
            target.locations.resize_with(self.locations.len(), Location::new);
        }
        for spare in target.locations.iter_mut().skip(self.used).take(target.used.saturating_sub(self.used)) {
            spare.writes.clear();
            spare.reads.clear();
        }
        target.used = self.used;
        for (old, new) in self.locations[..self.used].iter().zip(&mut target.locations) {
            new.init = old.init;
            empty_as_large(&mut new.writes, &old.writes);
            new.writes.extend(old.writes.iter().copied().filter(|&w| kept(w)));
            empty_as_large(&mut new.reads, &old.reads);
            new.reads.extend(old.reads.iter().copied().filter(|&r| kept(r)));
        }
        self.clock_top = self.clocks.top();
        target.clocks = std::mem::take(&mut self.clocks);
    }

    /// Makes this graph a copy of another, which has its clocks and all of its events. Buffers are used
    /// again.
    pub fn copy_from(&mut self, other: &Graph) {
        debug_assert!(!other.is_compacted(), "a graph is copied that has let events go");
        self.threads.resize_with(other.threads.len(), Thread::default);
        for (new, old) in self.threads.iter_mut().zip(&other.threads) {
            new.events.clone_from(&old.events);
            new.spawn = old.spawn;
            new.release_fences.clone_from(&old.release_fences);
            new.seqcst.clone_from(&old.seqcst);
        }
        self.joins.clone_from(&other.joins);
        self.order.clone_from(&other.order);
        if self.locations.len() < other.used {
            self.locations.resize_with(other.used, Location::new);
        }
        for spare in self.locations[..self.used].iter_mut().skip(other.used) {
            spare.writes.clear();
            spare.reads.clear();
        }
        for (new, old) in self.locations.iter_mut().zip(&other.locations[..other.used]) {
            (new.init, new.bottom) = (old.init, old.bottom);
            new.writes.clone_from(&old.writes);
            new.reads.clone_from(&old.reads);
        }
        self.used = other.used;
        self.clocks.copy_from(&other.clocks);
        self.fixed.clone_from(&other.fixed);
        (self.synchronisation, self.seqcst, self.plain) = (other.synchronisation, other.seqcst, other.plain);
        (self.clock_top, self.keeps_porf) = (other.clock_top, other.keeps_porf);
    }

    /// Takes the clocks back from a graph made by [`Graph::restrict_into`], which is spent.
    pub fn reclaim(&mut self, spent: &mut Graph) {
        self.clocks = std::mem::take(&mut spent.clocks);
        self.clocks.truncate(self.clock_top);
    }

    /// The closure of some events under `porf`, as lengths per thread: the smallest graph that
    /// has them.
    pub fn closure(&self, events: &[EventId]) -> Vec<u32> {
        let mut lens = vec![0u32; self.thread_count()];
        let mut todo: Vec<EventId> = events.to_vec();
        while let Some(id) = todo.pop() {
            if id.is_init() {
                continue;
            }
            let len = &mut lens[id.thread.index()];
            if *len > id.index {
                continue;
            }
            let from = std::mem::replace(len, id.index + 1);
            if from == 0 {
                todo.extend(self.spawn_of(id.thread));
            }
            for index in from..=id.index {
                let event = self.thread(id.thread)[index as usize];
                if event.is_read() {
                    todo.push(event.rf);
                } else if event.is_timeout() {
                    todo.extend_from_slice(&self.order()[..event.stamp as usize]);
                } else if event.kind == Kind::Join {
                    let child = ThreadId(event.value as u32);
                    todo.push(EventId::new(child, self.thread_len(child) - 1));
                }
            }
        }
        lens
    }
}

/// Empties a buffer, and lets it hold as much as its model can: the copy will grow like the original.
fn empty_as_large<T>(buffer: &mut Vec<T>, model: &Vec<T>) {
    buffer.clear();
    buffer.reserve(model.capacity());
}

fn copy_below(old: &Vec<u32>, len: u32, new: &mut Vec<u32>) {
    empty_as_large(new, old);
    new.extend(old.iter().copied().take_while(|&index| index < len));
}
