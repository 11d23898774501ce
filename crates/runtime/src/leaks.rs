//! Leaks: blocks that are left at the end of a complete execution, and that nobody can reach.
//!
//! What can be reached from static memory may be used by whoever comes later, so it is no leak. The
//! search is conservative: whatever looks like an address of a block counts as one. The values of
//! atomics are not in memory but in the graph.

use std::ops::Range;

use unpick_core::event::EventId;
use unpick_core::op::{Addr, Site, ThreadId};
use unpick_core::violation::{Kind, Point, Violation};

use crate::counts::Place;
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

impl Left {
    fn is_lost(&self) -> bool {
        !self.reached && self.counts
    }
}

/// The blocks that were not freed, in the order of their addresses, and which of them can be reached.
struct Blocks {
    left: Vec<Left>,
    /// Those whose contents have not been looked at yet.
    reached: Vec<usize>,
    /// Where the first one begins, and how far it is from there to the end of the last one.
    start: usize,
    span: usize,
}

impl Blocks {
    fn of(mut left: Vec<Left>) -> Blocks {
        left.sort_unstable_by_key(|block| block.start);
        let start = left.first().map_or(0, |block| block.start);
        let span = left.last().map_or(0, |block| block.start + block.size.max(1) - start);
        Blocks { left, reached: Vec::new(), start, span }
    }

    fn any_lost(&self) -> bool {
        self.left.iter().any(Left::is_lost)
    }

    /// Takes note of a word that may be an address; whether it may be one of a block.
    #[inline(always)]
    fn reach(&mut self, word: usize) -> bool {
        let near = word.wrapping_sub(self.start) < self.span;
        if near {
            self.reach_block(word);
        }
        near
    }

    #[inline(never)]
    fn reach_block(&mut self, address: usize) {
        let after = self.left.partition_point(|block| block.start <= address);
        let Some(index) = after.checked_sub(1) else { return };
        let block = &mut self.left[index];
        if address - block.start < block.size.max(1) && !block.reached {
            block.reached = true;
            self.reached.push(index);
        }
    }
}

/// The addresses of the whole words in a part of memory.
fn words(start: usize, end: usize) -> impl Iterator<Item = usize> {
    const WORD: usize = size_of::<usize>();
    (start.next_multiple_of(WORD)..end.saturating_sub(WORD - 1)).step_by(WORD)
}

impl Session {
    /// Whether blocks are left that could be a leak.
    #[inline]
    pub(crate) fn has_blocks_left(&self) -> bool {
        let mut arenas = self.heap.arenas.iter().flatten();
        self.limits.leaks && self.is_on_arenas() && arenas.any(|arena| arena.live > 0)
    }

    /// The leak that a complete execution shows, if it shows one.
    #[cold]
    #[inline(never)]
    pub(crate) fn find_leak(&self) -> Option<Violation> {
        let mut blocks = Blocks::of(self.left());
        if !blocks.any_lost() {
            return None;
        }
        for number in self.objects.statics.numbers() {
            if let Some(value) = self.value_of(number) {
                blocks.reach(value);
            }
        }
        // SAFETY: words of loaded segments that can be read; volatile, since other OS threads may be
        // writing them.
        let word = |address: usize| unsafe { (address as *const usize).read_volatile() };
        // What was held by static memory in one execution is likely to be so in the next.
        let mut roots = self.frees.roots.borrow_mut();
        for &root in roots.iter() {
            blocks.reach(word(root));
        }
        self.follow(&mut blocks);
        if blocks.any_lost() {
            roots.clear();
            for (start, end) in statics::writable() {
                let holds = |&address: &usize| blocks.reach(word(address));
                roots.extend(words(start, end).filter(holds));
            }
            self.follow(&mut blocks);
        }
        let lost = blocks.left.iter().filter(|block| block.is_lost());
        let first = lost.clone().min_by_key(|block| (block.thread.index(), block.number))?;
        let block = self.block(first.thread, first.number)?;
        let point = Point { thread: block.thread, index: block.birth, site: Site(0) };
        Some(Violation { kind: Kind::Leak { block, others: lost.count() - 1 }, point })
    }

    /// Reaches what can be reached from the blocks that were reached.
    fn follow(&self, blocks: &mut Blocks) {
        let stamp = self.stamp();
        while let Some(index) = blocks.reached.pop() {
            let (start, end) = (blocks.left[index].start, blocks.left[index].start + blocks.left[index].size);
            for address in words(start, end) {
                // SAFETY: a word of a block, which is mapped; no thread of the program runs. After
                // the first half of a tag comes the other, within the arena.
                let (word, number) =
                    unsafe { ((address as *const usize).read(), (address as *const u32).add(2).read()) };
                blocks.reach(word);
                if word as u64 == stamp
                    && let Some(value) = self.value_of(number)
                {
                    blocks.reach(value);
                }
            }
        }
    }

    /// The blocks that were not freed.
    fn left(&self) -> Vec<Left> {
        let mut left = Vec::new();
        for (t, arena) in self.heap.arenas.iter().enumerate() {
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

    /// The blocks that have the address of a part of memory in them, or of another such block. What an atomic was made with is in
    /// its memory still, and does not count if it has another value now.
    pub(crate) fn holders(&self, held: Range<usize>) -> Vec<Place> {
        let graph = self.search.execution.graph();
        let locations = (0..graph.location_count() as u32).map(Addr);
        let has_changed = |addr: &Addr| graph.newest(*addr) != EventId::INIT;
        let first = locations.filter(has_changed).map(|addr| graph.value(addr, EventId::INIT) as usize);
        let first: Vec<usize> = first.collect();
        let stamp = self.stamp();
        let (mut found, mut open) = (Vec::new(), vec![held]);
        while let Some(held) = open.pop() {
            let holds = |address: usize| {
                // SAFETY: as in `follow`; the thread of the program that runs has called the engine.
                let (word, number) =
                    unsafe { ((address as *const usize).read(), (address as *const u32).add(2).read()) };
                let newest = (word as u64 == stamp).then(|| self.value_of(number)).flatten();
                held.contains(&word) && !first.contains(&word)
                    || newest.is_some_and(|word| held.contains(&word))
            };
            for (thread, arena) in self.heap.arenas.iter().enumerate() {
                for block in arena.iter().flat_map(|arena| arena.live_blocks()) {
                    let place = (ThreadId(thread as u32), block.start);
                    if !found.contains(&place) && words(block.start, block.end).any(holds) {
                        found.push(place);
                        open.push(block);
                    }
                }
            }
        }
        found
    }

    /// The newest value of a location, by the number in its tag.
    fn value_of(&self, number: u32) -> Option<usize> {
        let graph = self.search.execution.graph();
        let addr = Addr(number);
        (tag::cell(number).is_none() && addr.index() < graph.location_count())
            .then(|| graph.value(addr, graph.newest(addr)) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks at 1000..1016 and 2000..2000, the first of which may be left behind.
    fn blocks() -> Blocks {
        let block = |start, size, counts| Left {
            start,
            size,
            thread: ThreadId::MAIN,
            number: 0,
            reached: false,
            counts,
        };
        Blocks::of(vec![block(2000, 0, true), block(1000, 16, false)])
    }

    #[test]
    fn an_address_within_a_block_reaches_it() {
        for (word, first, second) in [
            (0, false, false),
            (999, false, false),
            (1000, true, false),
            (1015, true, false),
            (1016, false, false),
            (2000, false, true),
            (2001, false, false),
            (usize::MAX, false, false),
        ] {
            let mut blocks = blocks();
            blocks.reach(word);
            let reached = [blocks.left[0].reached, blocks.left[1].reached];
            assert_eq!(reached, [first, second], "{word}");
        }
    }

    #[test]
    fn a_block_is_looked_into_once() {
        let mut blocks = blocks();
        assert!(blocks.reach(1008) && blocks.reach(1000));
        assert_eq!(blocks.reached, [0]);
        assert!(!blocks.reach(3000), "no block is near");
    }

    #[test]
    fn only_what_counts_is_lost() {
        let mut blocks = blocks();
        assert!(blocks.any_lost());
        blocks.reach(2000);
        assert!(!blocks.any_lost(), "the other may be left behind");
    }

    #[test]
    fn only_whole_words_are_looked_at() {
        assert!(words(16, 40).eq([16, 24, 32]));
        assert!(words(17, 39).eq([24]));
        assert!(words(16, 23).eq([0; 0]) && words(0, 3).eq([0; 0]));
    }
}
