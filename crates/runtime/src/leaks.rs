//! Leaks: blocks that are left at the end of a complete execution, and that nobody can reach.
//!
//! What can be reached from static memory may be used by whoever comes later, so it is no leak. The
//! search is conservative: whatever looks like an address of a block counts as one. The values of
//! atomics are not in memory but in the graph.

use unpick_core::op::{Addr, Site, ThreadId};
use unpick_core::violation::{Kind, Point, Violation};

use crate::session::Session;
use crate::{statics, tag};

/// A block that was not freed.
struct Left {
    start: usize,
    size: usize,
    thread: ThreadId,
    number: usize,
    reached: bool,
    /// Whether to leave it behind is a violation.
    counts: bool,
}

impl Session {
    /// The leak that a complete execution shows, if it shows one.
    #[inline]
    pub(crate) fn leak(&self) -> Option<Violation> {
        if !self.limits.leaks || !self.is_on_arenas() {
            return None;
        }
        let any = self.arenas.iter().flatten().any(|arena| arena.live > 0);
        any.then(|| self.find_leak()).flatten()
    }

    #[cold]
    #[inline(never)]
    fn find_leak(&self) -> Option<Violation> {
        let mut left = self.left();
        left.sort_unstable_by_key(|block| block.start);
        let mut reached: Vec<usize> = Vec::new();
        let reach = |left: &mut Vec<Left>, address: usize, reached: &mut Vec<usize>| {
            let after = left.partition_point(|block| block.start <= address);
            let Some(index) = after.checked_sub(1) else { return };
            let block = &mut left[index];
            if address - block.start < block.size.max(1) && !block.reached {
                block.reached = true;
                reached.push(index);
            }
        };
        for (start, end) in statics::writable() {
            let start = start.next_multiple_of(size_of::<usize>());
            for address in (start..end.saturating_sub(size_of::<usize>() - 1)).step_by(size_of::<usize>()) {
                // SAFETY: a word of a loaded segment that can be read; volatile, since other OS
                // threads may be writing it.
                let word = unsafe { (address as *const usize).read_volatile() };
                reach(&mut left, word, &mut reached);
            }
        }
        for number in self.statics.numbers() {
            if let Some(value) = self.value_of(number) {
                reach(&mut left, value, &mut reached);
            }
        }
        let stamp = self.stamp();
        while let Some(index) = reached.pop() {
            let (start, end) = (left[index].start, left[index].start + left[index].size);
            for address in (start..end.saturating_sub(size_of::<usize>() - 1)).step_by(size_of::<usize>()) {
                // SAFETY: a word of a block, which is mapped; no thread of the program runs. After
                // the first half of a tag comes the other, within the arena.
                let (word, number) =
                    unsafe { ((address as *const usize).read(), (address as *const u32).add(2).read()) };
                reach(&mut left, word, &mut reached);
                if word as u64 == stamp
                    && let Some(value) = self.value_of(number)
                {
                    reach(&mut left, value, &mut reached);
                }
            }
        }
        let lost = left.iter().filter(|block| !block.reached && block.counts);
        let first = lost.clone().min_by_key(|block| (block.thread.index(), block.number))?;
        let block = self.block(first.thread, first.number)?;
        let point = Point { thread: block.thread, index: block.birth, site: Site(0) };
        Some(Violation { kind: Kind::Leak { block, others: lost.count() - 1 }, point })
    }

    /// The blocks that were not freed.
    fn left(&self) -> Vec<Left> {
        let mut left = Vec::new();
        for (t, arena) in self.arenas.iter().enumerate() {
            let Some(arena) = arena else { continue };
            for (number, note) in arena.notes().iter().enumerate() {
                if note.freed().is_none() {
                    let (start, size) = (arena.start(number), note.size() as usize);
                    let counts = !self.limits.only_owned_leaks || note.is_owned();
                    let thread = ThreadId(t as u32);
                    left.push(Left { start, size, thread, number, reached: false, counts });
                }
            }
        }
        left
    }

    /// The newest value of a location, by the number in its tag.
    fn value_of(&self, number: u32) -> Option<usize> {
        let graph = self.execution.graph();
        let addr = Addr(number);
        (tag::cell(number).is_none() && addr.index() < graph.location_count())
            .then(|| graph.value(addr, graph.newest(addr)) as usize)
    }
}
